import { defineConfiguration, type Option } from '@tenure/runtime/configuration'

import type { ChartOperator } from './operators.ts'

interface Setting {
  readonly key: string
  readonly option: Option
  readonly environment: string | undefined
}

/** The settings of an operator that the values may have. */
export function settingsOf({ operator, managed }: ChartOperator): readonly Setting[] {
  const { rows } = defineConfiguration({ program: operator.name, summary: '', options: operator.config })
  const unknown = managed.filter((key) => !rows.some((row) => row.key === key))
  if (unknown.length > 0) throw new Error(`${operator.name} does not have the settings ${unknown.join(', ')}.`)
  return rows.filter(({ key, option }) => !managed.includes(key) && option.secret !== true)
}

/** A named template with the environment variable of each setting, as JSON. */
export function environmentTemplate(given: ChartOperator): string {
  const names = settingsOf(given).flatMap(({ key, environment }) =>
    environment === undefined ? [] : [[key, environment]],
  )
  const text = JSON.stringify(Object.fromEntries(names), null, 2)
  return `{{- define "tenure.environment.${given.key}" -}}\n${text}\n{{- end }}\n`
}

/** The JSON Schema of the settings of an operator. */
export function settingsSchema(given: ChartOperator): object {
  const properties = settingsOf(given).map(({ key, option }) => [
    key,
    { description: option.meaning, ...typeOf(option) },
  ])
  return {
    type: 'object',
    description: `Settings of \`tenure ${given.operator.name}\`: see docs/reference/configuration.md.`,
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  }
}

/** Null keeps the default, as everywhere in Helm. */
function typeOf(option: Option): object {
  switch (option.type) {
    case 'integer': {
      const { min: minimum, max: maximum } = option
      return {
        type: ['integer', 'null'],
        ...(minimum !== undefined && { minimum }),
        ...(maximum !== undefined && { maximum }),
      }
    }
    case 'boolean':
      return { type: ['boolean', 'null'] }
    case 'list':
      return { type: ['array', 'null'], items: { type: 'string' } }
    case 'structure':
      return { type: ['object', 'null'] }
    case 'duration':
      return { type: ['string', 'null'], pattern: String.raw`^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$` }
    case 'string':
      return option.choices === undefined ? { type: ['string', 'null'] } : { enum: [...option.choices, null] }
    case 'address':
      return { type: ['string', 'null'] }
    default:
      return option satisfies never
  }
}
