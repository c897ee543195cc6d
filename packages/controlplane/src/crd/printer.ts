import type { KubeObject } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asString } from '@tenure/kube/model'

import { asNumber } from '../model/json.ts'
import { ageOf } from '../printing/age.ts'
import { builtInColumns } from '../printing/built-in-columns.ts'
import type { Column, Printer } from '../registry/types.ts'
import { findAll, parseJsonPath } from './json-path.ts'

const AGE = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

/** kube-apiserver's description of a column that every resource has, such as `Name` and `Age`. */
const descriptionOf = (column: string): string =>
  builtInColumns('configmaps./v1').find(({ name }) => name === column)?.description ?? ''

/** Prints a custom resource: its name and the columns of its definition, or its age if the definition has none. */
export function customPrinter(given: readonly JsonObject[]): Printer {
  const columns: readonly JsonObject[] = given.length > 0 ? given : [{ ...AGE, description: descriptionOf('Age') }]
  const paths = columns.map(({ jsonPath }) => parseJsonPath(asString(jsonPath)) ?? [])
  return {
    columns: [
      { name: 'Name', type: 'string', format: 'name', priority: 0, description: descriptionOf('Name') },
      ...columns.map(columnOf),
    ],
    cells: (object: KubeObject, now: number) => [
      object.metadata?.name ?? '',
      ...paths.map((path, index) => {
        const [value] = path.length === 0 ? [] : findAll(path, object)
        return value === undefined || value === null
          ? null
          : columnValue(asString(columns[index]?.['type']), value, now)
      }),
    ],
  }
}

function columnOf({ name, type, format, priority, description, jsonPath }: JsonObject): Column {
  return {
    name: asString(name),
    type: asString(type),
    format: asString(format),
    priority: asNumber(priority),
    description:
      asString(description) || `Custom resource definition column (in JSONPath format): ${asString(jsonPath)}`,
  }
}

function columnValue(type: string, value: unknown, now: number): unknown {
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
