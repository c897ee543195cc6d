import { isJsonObject } from '@tenure/kube/model'
import { isList } from './json.ts'

/** The name of a JSON type in Go's messages. */
export function goKind(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (isList(value)) return 'array'
  if (isJsonObject(value)) return 'object'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** The Go type that a JSON value is decoded into. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (isList(value)) return '[]interface {}'
  if (isJsonObject(value)) return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return 'string'
}

/** A value as `%v` prints it: `map[a:1 b:[x y]]`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (isList(value)) return `[${value.map(goValue).join(' ')}]`
  if (isJsonObject(value)) {
    return `map[${Object.keys(value)
      .toSorted()
      .map((key) => `${key}:${goValue(value[key])}`)
      .join(' ')}]`
  }
  return scalar(value)
}

/** A value as `%#v` prints it: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (isJsonObject(value)) {
    return `map[string]interface {}{${Object.keys(value)
      .toSorted()
      .map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`)
      .join(', ')}}`
  }
  return typeof value === 'string' ? JSON.stringify(value) : scalar(value)
}

const scalar = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
