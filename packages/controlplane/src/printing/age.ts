/** Formats a duration as kubectl does: `5s`, `3m12s`, `4d7h`, `2y3d`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return pair(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  if (days < 2920) return pair(Math.trunc(days / 365), 'y', days % 365, 'd')
  return `${Math.trunc(days / 365)}y`
}

const pair = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`

/** Formats the time since `time`. */
export function ageOf(time: unknown, now: number): string {
  const then = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(then) ? '<unknown>' : humanDuration(now - then)
}
