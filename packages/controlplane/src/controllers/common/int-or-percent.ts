/** Resolves a count or a percentage of `total`. Other text counts as 0. */
export function scaledIntOrPercent(value: number | string | undefined, total: number, rounding: 'up' | 'down'): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value)
  if (!percent) return 0
  const exact = (Number(percent[1]) * total) / 100
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact)
}
