const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Units of a duration, with the number of digits of the smaller one beside a larger one. */
const UNITS = [
  { name: 'd', size: DAY, next: { name: 'h', size: HOUR, digits: 1 } },
  { name: 'h', size: HOUR, next: { name: 'm', size: MINUTE, digits: 2 } },
  { name: 'm', size: MINUTE, next: { name: 's', size: SECOND, digits: 2 } },
] as const

/** A duration with its two largest units: `3d 4h`, `1h 05m`, `45s`. */
export function durationText(milliseconds: number): string {
  const rest = Math.max(0, milliseconds)
  for (const { name, size, next } of UNITS) {
    if (rest < size) continue
    const small = Math.floor((rest % size) / next.size)
    return `${Math.floor(rest / size)}${name} ${String(small).padStart(next.digits, '0')}${next.name}`
  }
  return `${Math.floor(rest / SECOND)}s`
}

/** How long a finished job took. */
export function tookText(milliseconds: number): string {
  return milliseconds < SECOND ? 'took less than 1s' : `took ${durationText(milliseconds)}`
}

/** A duration with its largest unit: `3d`, `1h`, `45s`. */
export function roughDurationText(milliseconds: number): string {
  return durationText(milliseconds).split(' ')[0] ?? ''
}

/** Time until `at`. It is rounded up, so that `0s` is never shown for something that still lives. */
export function countdownText(at: number, now: number): string {
  return at <= now ? 'ended' : durationText(Math.ceil((at - now) / SECOND) * SECOND)
}

/** Time since `at`: `5m`. A clock that differs a little from the server's must not show a negative age. */
export function ageText(at: number, now: number): string {
  return roughDurationText(now - at)
}

const formatter = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

/** Date and time in the time zone of the reader. */
export function absoluteText(at: number): string {
  return Number.isFinite(at) ? formatter.format(at) : ''
}

/** A TTL as users write it: `1h30m`, `2d`. */
export function ttlText(milliseconds: number): string {
  if (milliseconds <= 0) return '0s'
  let rest = milliseconds
  let text = ''
  for (const [name, size] of [
    ['d', DAY],
    ['h', HOUR],
    ['m', MINUTE],
    ['s', SECOND],
  ] as const) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) text += `${count}${name}`
  }
  return text || `${milliseconds}ms`
}

/** Seconds with a unit that fits: `850 µs`, `1.2 ms`, `3.4 s`. */
export function secondsText(seconds: number): string {
  if (seconds === 0) return '0'
  if (seconds < 0.001) return `${trimmed(seconds * 1_000_000)} µs`
  if (seconds < 1) return `${trimmed(seconds * 1_000)} ms`
  return seconds < 90 ? `${trimmed(seconds)} s` : durationText(seconds * SECOND)
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(value < 100 ? 2 : 3)))
}

/** How urgent an end is, for its colour. */
export function urgencyOf(at: number, now: number): 'ended' | 'soon' | 'near' | 'far' {
  if (at <= now) return 'ended'
  if (at - now < 5 * MINUTE) return 'soon'
  return at - now < HOUR ? 'near' : 'far'
}
