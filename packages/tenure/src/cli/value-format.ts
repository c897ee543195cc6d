import { writeYaml, type YamlValue } from '@tenure/yaml'

/** A text for programs; undefined if the format is one for people. */
export function formatValue(format: string, value: object): string | undefined {
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`
  return format === 'yaml' ? writeYaml(value as YamlValue) : undefined
}
