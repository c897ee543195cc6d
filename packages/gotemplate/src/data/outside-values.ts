/** Values from outside of templates: JSON-like JavaScript values. */
import { fromOutside } from '../values/bytes.ts'
import { GoComplex, GoFunctionValue, GoInt, GoList, GoStruct } from '../values/values.ts'
import type { GoMap, GoValue } from '../values/values.ts'

/** The largest nesting of values. */
const MAX_VALUE_DEPTH = 500

/**
 * Copies a JSON-like value. Numbers become float64 and bigints int64; values of the engine and Maps are kept or copied
 * as they are. Only own enumerable properties of objects count.
 */
export function fromJavaScript(value: unknown, depth = 0): GoValue {
  switch (typeof value) {
    case 'string':
      return fromOutside(value)
    case 'number':
    case 'boolean':
      return value
    case 'bigint':
      return new GoInt('int64', BigInt.asIntN(64, value))
    case 'object':
      break
    default:
      return null
  }
  if (value === null) return null
  if (depth > MAX_VALUE_DEPTH) throw new RangeError(`The values are nested more than ${MAX_VALUE_DEPTH} levels deep.`)
  if (Array.isArray(value)) return value.map((item) => fromJavaScript(item, depth + 1))
  if (value instanceof Date) return value.toISOString()
  if (isEngineValue(value)) return value
  const entries = value instanceof Map ? value.entries() : Object.entries(value)
  const map: GoMap = new Map()
  for (const [key, item] of entries) map.set(fromOutside(String(key)), fromJavaScript(item, depth + 1))
  return map
}

const isEngineValue = (value: object): value is GoInt | GoList | GoStruct | GoComplex | GoFunctionValue =>
  value instanceof GoInt ||
  value instanceof GoList ||
  value instanceof GoStruct ||
  value instanceof GoComplex ||
  value instanceof GoFunctionValue
