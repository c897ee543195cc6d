/** A count given as a number or a percentage of `total`. What is neither is 0. */
export function scaled(value: number | string | undefined, total: number, rounding: 'up' | 'down'): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value)
  if (!percent) return 0
  const exact = (Number(percent[1]) * total) / 100
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact)
}

const SUFFIXES: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** A quantity such as `500m` or `1Gi` as a number; 0 if it is none. */
export function quantity(text: string | number | undefined): number {
  if (typeof text === 'number') return text
  const parts = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text ?? '')
  if (!parts) return 0
  const suffix = parts[2] ?? ''
  const factor = suffix === '' ? 1 : Object.hasOwn(SUFFIXES, suffix) ? (SUFFIXES[suffix] ?? 0) : 0
  return Number(parts[1]) * factor
}
