import type { ShownHistogram } from '../data/rows.ts'

export interface HistogramBar {
  /** Seconds. */
  readonly from: number
  /** Seconds; Infinity for the last bar. */
  readonly to: number
  readonly count: number
}

/** The counts of the single buckets, without the empty ones at both ends. */
export function histogramBars({ le, counts }: ShownHistogram): readonly HistogramBar[] {
  const bars = counts.map((count, index) => ({
    from: index === 0 ? 0 : (le[index - 1] ?? Infinity),
    to: le[index] ?? Infinity,
    count: Math.max(0, count - (index === 0 ? 0 : (counts[index - 1] ?? 0))),
  }))
  const first = bars.findIndex(({ count }) => count > 0)
  return first < 0 ? [] : bars.slice(first, bars.findLastIndex(({ count }) => count > 0) + 1)
}

/** The duration in seconds that this fraction of the observations does not exceed, interpolated within its bucket. */
export function histogramQuantile(histogram: ShownHistogram, fraction: number): number | undefined {
  const total = histogram.counts.at(-1) ?? 0
  if (total === 0) return undefined
  const rank = fraction * total
  let below = 0
  for (const { from, to, count } of histogramBars(histogram)) {
    // The last bucket has no end, so its beginning is the best that is known.
    if (below + count >= rank) return to === Infinity ? from : from + ((to - from) * (rank - below)) / count
    below += count
  }
  return undefined
}
