/** Conversions between types, as sprig and spf13/cast make them. */
import { printValue, textOf } from '../format/printer.ts'
import { parseFloat64, parseInteger } from '../parse/numbers.ts'
import { fromBytes } from '../values/bytes.ts'
import { GoComplex, GoInt, GoList, GoStruct, itemsOf, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { work } from '../values/work.ts'

/** Any value as a string. */
export function stringValue(value: GoValue): string {
  if (typeof value === 'string') return value
  if (value instanceof GoList && value.type === '[]uint8') {
    return fromBytes(Buffer.from(value.items.map((item) => (item instanceof GoInt ? Number(item.value) : 0))))
  }
  return textOf(value) ?? printValue(value)
}

/** The items of a list as strings, without nil; any other value is the only item. */
export function stringsOf(value: GoValue): string[] {
  if (value === null || value === undefined) return []
  const items = itemsOf(value)
  if (!items) return [stringValue(value)]
  if (value instanceof GoList && value.type === '[]string') return items as string[]
  return items.filter((item) => item !== null && item !== undefined).map(stringValue)
}

/** `1.00` counts as `1`. */
const withoutZeroDecimals = (text: string): string => text.replace(/\.0+$/, '')

/** As cast.ToInt64: 0 where there is no conversion. */
export function toInt64(value: GoValue): bigint {
  if (value instanceof GoInt) return BigInt.asIntN(64, value.value)
  switch (typeof value) {
    case 'number':
      return floatToInt(value)
    case 'boolean':
      return value ? 1n : 0n
    case 'string': {
      const parsed = parseInteger(withoutZeroDecimals(value))
      return parsed !== undefined && parsed >= -(2n ** 63n) && parsed < 2n ** 63n ? parsed : 0n
    }
    default:
      return 0n
  }
}

/** Converts as amd64 does: a float out of range is the smallest integer. */
export function floatToInt(value: number): bigint {
  const whole = Math.trunc(value)
  if (!(whole >= -(2 ** 63) && whole < 2 ** 63)) return -(2n ** 63n)
  return BigInt(whole)
}

/** As cast.ToFloat64: 0 where there is no conversion. */
export function toFloat64(value: GoValue): number {
  if (value instanceof GoInt) return Number(value.value)
  switch (typeof value) {
    case 'number':
      return value
    case 'boolean':
      return value ? 1 : 0
    case 'string':
      return parseFloat64(value) ?? 0
    default:
      return 0
  }
}

/** As sprig's `empty`. */
export function isEmpty(value: GoValue): boolean {
  switch (typeof value) {
    case 'undefined':
      return true
    case 'string':
      return value === ''
    case 'boolean':
      return !value
    case 'number':
      return value === 0
    default:
  }
  if (value === null) return true
  if (value instanceof Map) return value.size === 0
  if (value instanceof GoInt) return value.value === 0n
  if (value instanceof GoComplex) return value.real === 0 && value.imaginary === 0
  const items = itemsOf(value)
  return items ? items.length === 0 : false
}

/** As reflect.DeepEqual. */
export function isDeepEqual(a: GoValue, b: GoValue): boolean {
  work(1)
  if (a === null || a === undefined) return b === null || b === undefined
  if (b === null || b === undefined) return false
  if (typeof a !== 'object') return a === b
  if (a instanceof GoInt) return b instanceof GoInt && a.kind === b.kind && a.named === b.named && a.value === b.value
  if (a instanceof Map) return isEqualMap(a, b)
  if (a instanceof GoStruct) {
    if (!(b instanceof GoStruct) || a.type !== b.type || a.isPointer !== b.isPointer) return false
    return a === b || a.fields.every(({ value }, index) => isDeepEqual(value, b.fields[index]?.value))
  }
  if (a instanceof GoComplex) return b instanceof GoComplex && a.real === b.real && a.imaginary === b.imaginary
  const [items, others] = [itemsOf(a), itemsOf(b)]
  if (!items || !others || listType(a) !== listType(b)) return false
  if (items.length !== others.length || isNilList(a) !== isNilList(b)) return false
  return items.every((item, index) => isDeepEqual(item, others[index]))
}

const listType = (value: GoValue): string => (value instanceof GoList ? value.type : '[]interface {}')
const isNilList = (value: GoValue): boolean => value instanceof GoList && value.isNil

function isEqualMap(a: ReadonlyMap<string, GoValue>, b: GoValue): boolean {
  if (!(b instanceof Map) || a.size !== b.size) return false
  const [type, other] = [a, b].map((map) => (map instanceof NamedMap ? map.type : ''))
  if (type !== other) return false
  for (const [key, value] of a) {
    if (!b.has(key) || !isDeepEqual(value, b.get(key))) return false
  }
  return true
}
