import { TenureError } from '@tenure/kube'

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  // The micro sign and the Greek letter look alike; Go takes both.
  '\u00B5s': 1_000n,
  '\u03BCs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

/** Go's time.Duration is an int64 of nanoseconds: about 292 years. */
const LONGEST = 2n ** 63n - 1n

/** Longer texts can only be mistakes; the bound keeps a hostile one from costing anything. */
const LONGEST_TEXT = 100

const PART = /(\d*)(?:\.(\d*))?(ns|us|\u00B5s|\u03BCs|ms|s|m|h)/y

/**
 * Reads a duration as Go's time.ParseDuration does (`1h30m`, `1.5h`, `300ms`, `-2s`, `0`) into milliseconds. Strict:
 * every number needs its unit, so `1h30` is refused instead of guessed at.
 */
export function parseDuration(text: string): number {
  if (text.length > LONGEST_TEXT) throw invalid(`${text.slice(0, LONGEST_TEXT)}…`, 'is too long to be a duration')
  const negative = text.startsWith('-')
  const unsigned = negative || text.startsWith('+') ? text.slice(1) : text
  if (unsigned === '0') return 0
  if (unsigned === '') throw invalid(text, 'is not a duration')
  let total = 0n
  PART.lastIndex = 0
  for (let position = 0; position < unsigned.length; position = PART.lastIndex) {
    PART.lastIndex = position
    const match = PART.exec(unsigned)
    if (!match) throw invalid(text, complaint(unsigned.slice(position)))
    const [, whole = '', fraction = '', unit = ''] = match
    if (whole === '' && fraction === '') throw invalid(text, complaint(unsigned.slice(position)))
    const scale = NANOSECONDS[unit] ?? 0n
    total += BigInt(whole || '0') * scale
    // What is finer than a nanosecond is cut off, as Go does.
    if (fraction) total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
    if (total > LONGEST) throw invalid(text, 'is longer than a duration can be (about 292 years)')
  }
  const milliseconds = Number(total / 1_000_000n) + Number(total % 1_000_000n) / 1_000_000
  return negative && milliseconds > 0 ? -milliseconds : milliseconds
}

/** Prints milliseconds as Go prints a Duration: `1h30m0s`, `1.5s`, `300ms`, `20µs`, `0s`. */
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
  return nanoseconds > LONGEST ? LONGEST : nanoseconds
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '')
  return fraction ? `${value / unit}.${fraction}` : `${value / unit}`
}

function complaint(rest: string): string {
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
