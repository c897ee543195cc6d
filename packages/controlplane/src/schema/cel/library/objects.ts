import { charge } from '../cost.ts'

/** An object with a schema: a subclass per type, with escaped field names. */
export class CelObject {
  readonly [field: string]: unknown
}

/** Lists of type set or map, which are compared without order. */
export const unordered = new WeakSet<readonly unknown[]>()

/** CEL's equality, for any two values. */
export function isEqual(a: unknown, b: unknown): boolean {
  charge(1)
  if (a === b) return true
  if (typeof a === 'bigint' && typeof b === 'number') return Number(a) === b
  if (typeof a === 'number' && typeof b === 'bigint') return a === Number(b)
  if (typeof a === 'string' && typeof b === 'string') return false
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && areListsEqual(a, b)
  if (a instanceof Map && b instanceof Map) {
    if (a.size !== b.size) return false
    for (const [key, value] of a) if (!b.has(key) || !isEqual(value, b.get(key))) return false
    return true
  }
  if (a instanceof CelObject && b instanceof CelObject) {
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
    )
  }
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  if (isComparable(a) && isComparable(b)) return a.constructor === b.constructor && a.equals(b)
  const [left, right] = [asMap(a), asMap(b)]
  if (left && right) return isEqual(left, right)
  // Durations and other wrappers of a primitive value.
  return a.constructor === b.constructor && a.valueOf() !== a && a.valueOf() === b.valueOf()
}

/** A value of one of the libraries here. */
export interface Comparable {
  equals(other: unknown): boolean
}

function isComparable(value: object): value is Comparable {
  return 'equals' in value && typeof value.equals === 'function'
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** An object with a schema equals a map of the same content. */
function asMap(value: object): ReadonlyMap<unknown, unknown> | undefined {
  if (value instanceof Map) return value
  return isPlain(value) || value instanceof CelObject ? new Map(Object.entries(value)) : undefined
}

function areListsEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  if (!unordered.has(a)) return a.every((item, index) => isEqual(item, b[index]))
  return a.every((item) => b.some((other) => isEqual(item, other)))
}

export function contains(collection: unknown, value: unknown): boolean {
  if (Array.isArray(collection)) return collection.some((item) => isEqual(item, value))
  if (collection instanceof Map) return collection.has(value)
  return typeof collection === 'object' && collection !== null && Object.hasOwn(collection, String(value))
}
