/** Go's durations: nanoseconds. */

const SECOND = 1_000_000_000n
const MINUTE = 60n * SECOND
const HOUR = 60n * MINUTE

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['\u00B5s', 1000n],
  ['\u03BCs', 1000n],
  ['ms', 1_000_000n],
  ['s', SECOND],
  ['m', MINUTE],
  ['h', HOUR],
])

/** As `time.Duration.String` prints it: `1h30m0s`, `1.5s`, `100ms`. */
export function durationText(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s'
  const sign = nanoseconds < 0n ? '-' : ''
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (size < 1000n) return `${sign}${size}ns`
  if (size < 1_000_000n) return `${sign}${fraction(size, 1000n, 3)}\u00B5s`
  if (size < SECOND) return `${sign}${fraction(size, 1_000_000n, 6)}ms`
  const seconds = `${fraction(size % MINUTE, SECOND, 9)}s`
  if (size < MINUTE) return sign + seconds
  const minutes = `${(size / MINUTE) % 60n}m${seconds}`
  return size < HOUR ? sign + minutes : `${sign}${size / HOUR}h${minutes}`
}

function fraction(value: bigint, unit: bigint, digits: number): string {
  const rest = (value % unit).toString().padStart(digits, '0').replace(/0+$/, '')
  return rest === '' ? `${value / unit}` : `${value / unit}.${rest}`
}

/** Nanoseconds; undefined if the text is not a duration. */
export function parseDuration(text: string): bigint | undefined {
  const { sign, body } = /^(?<sign>[-+]?)(?<body>.*)$/s.exec(text)?.groups ?? {}
  if (body === undefined || body === '') return undefined
  if (body === '0') return 0n
  const PART = /(\d*)(?:\.(\d*))?([^\d.]+)/y
  let total = 0n
  while (PART.lastIndex < body.length) {
    const [, whole = '', decimals = '', name = ''] = PART.exec(body) ?? []
    const unit = UNITS.get(name)
    if (unit === undefined || (whole === '' && decimals === '')) return undefined
    total += BigInt(whole || '0') * unit
    if (decimals !== '') total += (BigInt(decimals) * unit) / 10n ** BigInt(decimals.length)
    if (total > 2n ** 63n) return undefined
  }
  if (sign === '-') return -total
  return total >= 2n ** 63n ? undefined : total
}
