import { writeYaml, type YamlValue } from '@tenure/yaml'
import { usageError } from './usage-error.ts'

/** A text for programs; undefined if the format is one for people. Throws if it is not one of `formats`. */
export function formatValue(format: string, formats: readonly string[], value: object): string | undefined {
  if (!formats.includes(format))
    throw usageError(`${JSON.stringify(format)} is not an output format: use ${formats.join(', ')}.`)
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`
  return format === 'yaml' ? writeYaml(value as YamlValue) : undefined
}
