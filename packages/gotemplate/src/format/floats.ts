/** Float64 numbers as text, as strconv.FormatFloat writes them. */

export type FloatFormat = 'e' | 'E' | 'f' | 'g' | 'G' | 'b' | 'x' | 'X'

/** Digits without trailing zeros; the value is 0.DIGITS × 10^point. */
interface Decimal {
  readonly digits: string
  readonly point: number
}

/** `precision` -1 means the fewest digits that read back as the same number. */
export function formatFloat(value: number, format: FloatFormat, precision: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const size = Math.abs(value)
  switch (format) {
    case 'b': {
      const [mantissa, exponent] = parts(size)
      return `${sign}${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`
    }
    case 'x':
      return sign + hexadecimal(size, precision)
    case 'X':
      return sign + hexadecimal(size, precision).toUpperCase()
    case 'f':
      return sign + (precision < 0 ? plain(shortest(size), -1) : fixed(size, precision))
    case 'e':
    case 'E': {
      const decimal = precision < 0 ? shortest(size) : significant(size, precision + 1)
      return sign + exponential(decimal, precision < 0 ? Math.max(decimal.digits.length - 1, 0) : precision, format)
    }
    default:
      return sign + general(size, precision, format === 'g' ? 'e' : 'E')
  }
}

function general(size: number, precision: number, mark: 'e' | 'E'): string {
  const isShortest = precision < 0
  const wanted = precision === 0 ? 1 : precision
  const decimal = isShortest ? shortest(size) : significant(size, wanted)
  const count = decimal.digits.length
  let limit = isShortest ? 6 : wanted
  if (!isShortest && limit > count && count >= decimal.point) limit = count
  const exponent = decimal.point - 1
  if (exponent < -4 || exponent >= limit) return exponential(decimal, Math.max(count - 1, 0), mark)
  return plain(decimal, Math.max(count - decimal.point, 0))
}

function shortest(size: number): Decimal {
  if (size === 0) return { digits: '', point: 1 }
  const [digits = '', exponent = '0'] = size.toExponential().split('e')
  return { digits: digits.replace('.', ''), point: Number(exponent) + 1 }
}

/** Mantissa and exponent of 2, exactly. */
function parts(size: number): readonly [mantissa: bigint, exponent: number] {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, size)
  const bits = view.getBigUint64(0)
  const biased = Number(bits >> 52n) & 0x7ff
  const fraction = bits & ((1n << 52n) - 1n)
  return biased === 0 ? [fraction, -1074] : [fraction | (1n << 52n), biased - 1075]
}

/** numerator / denominator, rounded half to even. */
function divide(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const twice = (numerator % denominator) * 2n
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) return quotient + 1n
  return quotient
}

/** size × 10^power, rounded half to even. */
function scaled(size: number, power: number): bigint {
  const [mantissa, exponent] = parts(size)
  let numerator = mantissa
  let denominator = 1n
  if (exponent >= 0) numerator <<= BigInt(exponent)
  else denominator <<= BigInt(-exponent)
  if (power >= 0) numerator *= 10n ** BigInt(power)
  else denominator *= 10n ** BigInt(-power)
  return divide(numerator, denominator)
}

function fixed(size: number, precision: number): string {
  const text = scaled(size, precision)
    .toString()
    .padStart(precision + 1, '0')
  return precision === 0 ? text : `${text.slice(0, -precision)}.${text.slice(-precision)}`
}

function significant(size: number, count: number): Decimal {
  if (size === 0) return { digits: '', point: 1 }
  let exponent = Number(size.toExponential().split('e')[1])
  let digits = scaled(size, count - 1 - exponent).toString()
  if (digits.length > count) {
    exponent++
    digits = digits.slice(0, count)
  }
  return { digits: digits.replace(/0+$/, ''), point: exponent + 1 }
}

function exponential({ digits, point }: Decimal, precision: number, mark: 'e' | 'E'): string {
  const padded = digits.padEnd(precision + 1, '0')
  const exponent = digits === '' ? 0 : point - 1
  const fraction = precision > 0 ? `.${padded.slice(1, precision + 1)}` : ''
  return `${padded[0]}${fraction}${mark}${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** With `decimals` -1: as many as there are. */
function plain({ digits, point }: Decimal, decimals: number): string {
  const count = decimals < 0 ? Math.max(digits.length - point, 0) : decimals
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0'
  if (count === 0) return whole
  const fraction = (point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits).padEnd(count, '0')
  return `${whole}.${fraction.slice(0, count)}`
}

function hexadecimal(size: number, precision: number): string {
  let [mantissa, exponent] = parts(size)
  if (mantissa === 0n) return `0x0${precision > 0 ? `.${'0'.repeat(precision)}` : ''}p+00`
  while (mantissa < 1n << 52n) {
    mantissa <<= 1n
    exponent--
  }
  exponent += 52
  if (precision >= 0 && precision < 13) {
    const dropped = 1n << BigInt(4 * (13 - precision))
    mantissa = divide(mantissa, dropped) * dropped
    if (mantissa >= 1n << 53n) {
      mantissa >>= 1n
      exponent++
    }
  }
  const hex = (mantissa & ((1n << 52n) - 1n)).toString(16).padStart(13, '0')
  const digits = precision < 0 ? hex.replace(/0+$/, '') : hex.padEnd(precision, '0').slice(0, precision)
  const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  return `0x1${digits === '' ? '' : `.${digits}`}p${power}`
}
