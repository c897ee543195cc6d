import type { KubeObject } from '@tenure/kube'

import { ageOf } from '../printing/age.ts'
import { asNumber, asText } from '../model/json.ts'
import type { Json } from '../model/json.ts'
import { COLUMNS, DESCRIPTIONS } from '../printing/generated/columns.ts'
import type { Column, Printer } from '../registry/types.ts'
import { findAll, parseJsonPath } from './json-path.ts'

const AGE = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

/** The real server's words for metadata.name and metadata.creationTimestamp, as its tables have them. */
const described = (column: string): string => {
  const found = COLUMNS['configmaps./v1']?.find(([name]) => name === column)
  return DESCRIPTIONS[found?.[4] ?? -1] ?? ''
}

/** The table of a custom resource: its name, and the columns that its definition names. Without any, its age. */
export function customPrinter(given: readonly Json[]): Printer {
  const columns: readonly Json[] = given.length > 0 ? given : [{ ...AGE, description: described('Age') }]
  const paths = columns.map(({ jsonPath }) => parseJsonPath(asText(jsonPath)) ?? [])
  return {
    columns: [
      { name: 'Name', type: 'string', format: 'name', priority: 0, description: described('Name') },
      ...columns.map(columnOf),
    ],
    cells: (object: KubeObject, now: number) => [
      object.metadata?.name ?? '',
      ...paths.map((path, index) => {
        const [value] = path.length === 0 ? [] : findAll(path, object)
        return value === undefined || value === null ? null : cellOf(asText(columns[index]?.['type']), value, now)
      }),
    ],
  }
}

function columnOf({ name, type, format, priority, description, jsonPath }: Json): Column {
  return {
    name: asText(name),
    type: asText(type),
    format: asText(format),
    priority: asNumber(priority),
    description: asText(description) || `Custom resource definition column (in JSONPath format): ${asText(jsonPath)}`,
  }
}

function cellOf(type: string, value: unknown, now: number): unknown {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    default: {
      if (typeof value !== 'string') return null
      const age = ageOf(value, now)
      return age === '<unknown>' ? '<invalid>' : age
    }
  }
}
