import { LRUCache } from 'lru-cache'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

/** A Kubernetes quantity: `500m`, `1536Mi`, `1e3`. */
export interface Quantity {
  /** The value in billionths, the finest unit that Kubernetes keeps. */
  readonly nanos: bigint
  readonly format: QuantityFormat
  /** The original text, if the API server answers with it unchanged. */
  readonly kept?: string
}

/** The text is not a quantity. The message is kube-apiserver's. */
export class QuantityError extends Error {}

const NANO = 1_000_000_000n
const DECIMAL: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL_NAMES: ReadonlyMap<number, string> = new Map([...DECIMAL].map(([name, power]) => [power, name]))
const PATTERN = /^([+-]?)([0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/
/** Arithmetic on integers of any length takes time that grows faster than their length. */
const MAX_LENGTH = 1000
const MAX_INT64 = 2n ** 63n - 1n

export function parseQuantity(text: string): Quantity {
  if (text.length > MAX_LENGTH) throw new QuantityError('unable to parse numeric part of quantity')
  const match = PATTERN.exec(text)
  if (!match) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    )
  }
  const [, sign, number = '', suffix = ''] = match
  const digits = /^(\d*)\.?(\d*)$/.exec(number)
  if (!digits || number === '.') throw new QuantityError('unable to parse numeric part of quantity')
  const [, whole = '', fraction = ''] = digits
  const { format, power, factor } = scaleOf(suffix)
  // whole.fraction × 10^power × factor, in billionths, rounded away from zero.
  const exponent = power + 9 - fraction.length
  const mantissa = BigInt(`${whole}${fraction}` || '0') * factor
  const bounded = Math.max(-400, Math.min(400, exponent))
  const size = bounded >= 0 ? mantissa * 10n ** BigInt(bounded) : divideUp(mantissa, 10n ** BigInt(-bounded))
  const kept = isKept(text, whole, fraction, format, power)
  return { nanos: sign === '-' ? -size : size, format, ...(kept && { kept: text }) }
}

/** The API server leaves text unchanged that a rough test takes for canonical. */
function isKept(text: string, whole: string, fraction: string, format: QuantityFormat, power: number): boolean {
  const digits = whole.replace(/^0+(?=\d)/, '')
  if (format === 'BinarySI') {
    const bits = 10 * (BINARY.indexOf(text.slice(-2)) + 1)
    return fraction === '' && 14 - digits.length - Math.trunc(bits * 0.3) >= 0 && BigInt(digits || '0') % 8n !== 0n
  }
  const shifted = digits + fraction
  const scale = power - fraction.length
  return shifted.length <= 18 && scale >= -9 && scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
}

function scaleOf(suffix: string): { readonly format: QuantityFormat; readonly power: number; readonly factor: bigint } {
  const decimal = DECIMAL.get(suffix)
  if (decimal !== undefined) return { format: 'DecimalSI', power: decimal, factor: 1n }
  const binary = BINARY.indexOf(suffix)
  if (binary >= 0) return { format: 'BinarySI', power: 0, factor: 1024n ** BigInt(binary + 1) }
  const exponent = /^[eE]([-+]?\d+)$/.exec(suffix)
  const power = BigInt((exponent?.[1] ?? '').replace('+', ''))
  if (!exponent || power > MAX_INT64 || power < -MAX_INT64 - 1n) {
    throw new QuantityError("unable to parse quantity's suffix")
  }
  return { format: 'DecimalExponent', power: Number(power), factor: 1n }
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}

/** The canonical form: no fraction and the largest suffix. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0'
  const sign = nanos < 0n ? '-' : ''
  const size = nanos < 0n ? -nanos : nanos
  if (format === 'BinarySI' && size >= 1024n * NANO && size % NANO === 0n) {
    let value = divideUp(size, NANO)
    let power = 0
    while (value % 1024n === 0n && power < BINARY.length) {
      value /= 1024n
      power += 1
    }
    return `${sign}${value}${power === 0 ? '' : BINARY[power - 1]}`
  }
  let value = size
  let power = -9
  while (value % 1000n === 0n && power < 18) {
    value /= 1000n
    power += 3
  }
  const suffix = format === 'DecimalExponent' ? (power === 0 ? '' : `e${power}`) : (DECIMAL_NAMES.get(power) ?? '')
  return `${sign}${value}${suffix}`
}

/** Negative if `a` is less than `b`, positive if it is more. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
}

/**
 * Whether two values are the same quantity, however they are written: `0.5` and `500m`, `1Gi` and `1024Mi`. False if one
 * of them is not a quantity.
 */
export function isSameQuantity(a: unknown, b: unknown): boolean {
  if (a === b) return isQuantity(a)
  const first = nanosOf(a)
  return first !== 'invalid' && first === nanosOf(b)
}

export function isQuantity(value: unknown): boolean {
  return nanosOf(value) !== 'invalid'
}

/** Objects repeat the same few texts, so the results of parsing are cached: at most this many of each sort. */
const MAX_CACHED_TEXTS = 1000
const nanosByText = new LRUCache<string, bigint | 'invalid'>({ max: MAX_CACHED_TEXTS })
const canonicalByText = new LRUCache<string, string>({ max: MAX_CACHED_TEXTS })
const canonicalInLists = new LRUCache<string, string>({ max: MAX_CACHED_TEXTS })

/** In billionths. */
function nanosOf(value: unknown): bigint | 'invalid' {
  if (typeof value !== 'string' && typeof value !== 'number') return 'invalid'
  const text = String(value)
  let nanos = nanosByText.get(text)
  if (nanos === undefined) {
    nanos = parseNanos(text)
    nanosByText.set(text, nanos)
  }
  return nanos
}

function parseNanos(text: string): bigint | 'invalid' {
  try {
    return parseQuantity(text).nanos
  } catch (error) {
    if (error instanceof QuantityError) return 'invalid'
    throw error
  }
}

/**
 * The text with which the API server answers: `1024Mi` is `1Gi`, `0.5` is `500m`. In resource lists nothing is finer
 * than a thousandth.
 */
export function canonicalQuantity(text: string, isInResourceList = false): string {
  const cache = isInResourceList ? canonicalInLists : canonicalByText
  let canonical = cache.get(text)
  if (canonical === undefined) {
    canonical = canonicalize(parseQuantity(text), isInResourceList)
    cache.set(text, canonical)
  }
  return canonical
}

function canonicalize(quantity: Quantity, isInResourceList: boolean): string {
  const milli = NANO / 1000n
  const { nanos, format, kept } = quantity
  if (!isInResourceList || nanos % milli === 0n) return kept ?? formatQuantity(quantity)
  const rounded = (nanos < 0n ? -divideUp(-nanos, milli) : divideUp(nanos, milli)) * milli
  return formatQuantity({ nanos: rounded, format })
}
