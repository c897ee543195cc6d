/** Quantities (`500m`, `1536Mi`, `1e3`) as Kubernetes reads and writes them. */

type Format = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  /** In billionths: the finest that Kubernetes keeps. */
  readonly nanos: bigint
  readonly format: Format
  /** As it was written, where the server answers with just that. */
  readonly kept?: string
}

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

export function parseQuantity(text: string): Quantity {
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
  // whole.fraction × 10^power × factor, in nanos, rounded away from zero.
  const exponent = power + 9 - fraction.length
  const mantissa = BigInt(`${whole}${fraction}` || '0') * factor
  const bounded = Math.max(-400, Math.min(400, exponent))
  const size = bounded >= 0 ? mantissa * 10n ** BigInt(bounded) : divideUp(mantissa, 10n ** BigInt(-bounded))
  const kept = isKept(text, whole, fraction, format, power)
  return { nanos: sign === '-' ? -size : size, format, ...(kept && { kept: text }) }
}

/** The server does not rewrite what is probably canonical already, by a rough test. */
function isKept(text: string, whole: string, fraction: string, format: Format, power: number): boolean {
  const digits = whole.replace(/^0+(?=\d)/, '')
  if (format === 'BinarySI') {
    const bits = 10 * (BINARY.indexOf(text.slice(-2)) + 1)
    return fraction === '' && 14 - digits.length - Math.trunc(bits * 0.3) >= 0 && BigInt(digits || '0') % 8n !== 0n
  }
  const shifted = digits + fraction
  const scale = power - fraction.length
  return shifted.length <= 18 && scale >= -9 && scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
}

function scaleOf(suffix: string): { readonly format: Format; readonly power: number; readonly factor: bigint } {
  const decimal = DECIMAL.get(suffix)
  if (decimal !== undefined) return { format: 'DecimalSI', power: decimal, factor: 1n }
  const binary = BINARY.indexOf(suffix)
  if (binary >= 0) return { format: 'BinarySI', power: 0, factor: 1024n ** BigInt(binary + 1) }
  const exponent = /^[eE]([-+]?\d+)$/.exec(suffix)
  if (!exponent) throw new QuantityError("unable to parse quantity's suffix")
  return { format: 'DecimalExponent', power: Number(exponent[1]), factor: 1n }
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}

/** The canonical form: no fraction, the largest suffix. */
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

const MOST_KNOWN = 1000
const known = new Map<string, string>()
const knownInLists = new Map<string, string>()

/**
 * As the server answers it: `1024Mi` is `1Gi`, `0.5` is `500m`. In resource lists nothing is finer than a thousandth.
 * The same few come again and again, so they are remembered.
 */
export function canonicalQuantity(text: string, isInResourceList = false): string {
  const remembered = isInResourceList ? knownInLists : known
  let canonical = remembered.get(text)
  if (canonical === undefined) {
    canonical = canonicalize(parseQuantity(text), isInResourceList)
    if (remembered.size >= MOST_KNOWN) remembered.clear()
    remembered.set(text, canonical)
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
