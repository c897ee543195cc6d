import { TenureError } from '@tenure/kube'

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  // The micro sign and the Greek letter look alike; Go accepts both.
  '\u00B5s': 1_000n,
  '\u03BCs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
}

/** Maximum of Go's time.Duration, an int64 of nanoseconds: about 292 years. */
const MAX_NANOSECONDS = 2n ** 63n - 1n

/** Maximum length of a duration in characters: bounds the cost of hostile input. */
const MAX_TEXT_LENGTH = 100

const PART = /(\d*)(?:\.(\d*))?(ns|us|\u00B5s|\u03BCs|ms|s|m|h)/y
const PART_WITH_DAYS = /(\d*)(?:\.(\d*))?(ns|us|\u00B5s|\u03BCs|ms|s|m|h|d|w)/y

export interface DurationOptions {
  /** Accept `d` (24 hours) and `w` (7 days) too, which Go does not. Default false. */
  readonly days?: boolean
}

/**
 * Parses a duration in Go's notation (`1h30m`, `1.5h`, `300ms`, `-2s`, `0`) into milliseconds. As in Go, every number
 * needs a unit: `1h30` is an error.
 */
export function parseDuration(text: string, { days = false }: DurationOptions = {}): number {
  const pattern = days ? PART_WITH_DAYS : PART
  if (text.length > MAX_TEXT_LENGTH) throw invalid(`${text.slice(0, MAX_TEXT_LENGTH)}…`, 'is too long to be a duration')
  const negative = text.startsWith('-')
  const unsigned = negative || text.startsWith('+') ? text.slice(1) : text
  if (unsigned === '0') return 0
  if (unsigned === '') throw invalid(text, 'is not a duration')
  let total = 0n
  pattern.lastIndex = 0
  for (let position = 0; position < unsigned.length; position = pattern.lastIndex) {
    pattern.lastIndex = position
    const match = pattern.exec(unsigned)
    if (!match) throw invalid(text, problemAt(unsigned.slice(position)))
    const [, whole = '', fraction = '', unit = ''] = match
    if (whole === '' && fraction === '') throw invalid(text, problemAt(unsigned.slice(position)))
    const scale = NANOSECONDS[unit] ?? 0n
    total += BigInt(whole || '0') * scale
    // Go truncates fractions of a nanosecond as well.
    if (fraction) total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
    if (total > MAX_NANOSECONDS) throw invalid(text, 'is longer than a duration can be (about 292 years)')
  }
  const milliseconds = Number(total / 1_000_000n) + Number(total % 1_000_000n) / 1_000_000
  return negative && milliseconds > 0 ? -milliseconds : milliseconds
}

/** Formats milliseconds as Go formats a Duration: `1h30m0s`, `1.5s`, `300ms`, `20µs`, `0s`. */
export function formatDuration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) throw invalid(String(milliseconds), 'is not a finite number of milliseconds')
  const nanoseconds = toNanoseconds(Math.abs(milliseconds))
  if (nanoseconds === 0n) return '0s'
  const sign = milliseconds < 0 ? '-' : ''
  if (nanoseconds < 1_000n) return `${sign}${nanoseconds}ns`
  if (nanoseconds < 1_000_000n) return `${sign}${decimal(nanoseconds, 1_000n)}\u00B5s`
  if (nanoseconds < 1_000_000_000n) return `${sign}${decimal(nanoseconds, 1_000_000n)}ms`
  const hours = nanoseconds / 3_600_000_000_000n
  const minutes = (nanoseconds / 60_000_000_000n) % 60n
  const seconds = `${decimal(nanoseconds % 60_000_000_000n, 1_000_000_000n)}s`
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`
}

function toNanoseconds(milliseconds: number): bigint {
  const whole = Math.floor(milliseconds)
  const nanoseconds = BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1_000_000))
  return nanoseconds > MAX_NANOSECONDS ? MAX_NANOSECONDS : nanoseconds
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '')
  return fraction ? `${value / unit}.${fraction}` : `${value / unit}`
}

function problemAt(rest: string): string {
  const number = /^[\d.]+/.exec(rest)?.[0]
  if (number === rest && /\d/.test(rest)) return `has no unit after ${number}`
  return `is not a duration from ${JSON.stringify(rest)} on`
}

function invalid(text: string, problem: string): TenureError {
  return new TenureError(
    'TENURE_DURATION_INVALID',
    `${JSON.stringify(text)} ${problem}; write numbers with units, such as 1h30m, 1.5h or 300ms.`,
  )
}
