/** Keys of YAML mappings: their identity, and their form in messages and in JSON. */
import { goFloat } from '../go-float.ts'
import { goQuote } from '../go-quote.ts'
import type { ScalarValue } from './scalars.ts'

/** Equal for equal keys. The number 1 and the text "1" differ: only JSON gives them the same name. */
export function keyIdentity(key: ScalarValue): unknown {
  // NaN never equals NaN, but a Map would treat them as equal.
  return Number.isNaN(key) ? Symbol('NaN') : key
}

/** As Go's `%#v` prints it. */
export function shownKey(key: ScalarValue): string {
  if (typeof key === 'string') return goQuote(key)
  if (typeof key === 'number') return goFloat(key)
  if (typeof key === 'bigint' && key >= 2n ** 63n) return `0x${key.toString(16)}`
  return key === null ? '<nil>' : String(key)
}

/** The key in JSON. Undefined if it cannot be one. */
export function jsonName(key: ScalarValue): string | undefined {
  if (key === null || (typeof key === 'bigint' && key >= 2n ** 63n)) return undefined
  if (typeof key !== 'number') return String(key)
  if (Number.isFinite(key)) return goFloat(key, 32)
  return Number.isNaN(key) ? '.nan' : key > 0 ? '.inf' : '-.inf'
}
