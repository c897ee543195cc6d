const UNITS: readonly (readonly [string, string, number])[] = [
  ['week', 'w', 604_800_000],
  ['day', 'd', 86_400_000],
  ['hour', 'h', 3_600_000],
  ['minute', 'm', 60_000],
  ['second', 's', 1_000],
  ['millisecond', 'ms', 1],
]

/** The exact duration: `1 hour 30 minutes`. */
export function durationInWords(milliseconds: number): string {
  const parts: string[] = []
  let left = milliseconds
  for (const [word, , size] of UNITS) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count} ${word}${count === 1 ? '' : 's'}`)
  }
  return parts.length > 0 ? parts.join(' ') : 'no time at all'
}

/** The two largest units: `2d3h`. */
export function roughDuration(milliseconds: number): string {
  const parts: string[] = []
  let left = Math.max(milliseconds, 0)
  for (const [, letter, size] of UNITS.slice(1, -1)) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count}${letter}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join('') || '0s'
}

/** `in 2d3h`, `now`, `5m ago`. */
export function fromNow(time: number, now: number): string {
  const difference = time - now
  if (Math.abs(difference) < 1_000) return 'now'
  return difference > 0 ? `in ${roughDuration(difference)}` : `${roughDuration(-difference)} ago`
}
