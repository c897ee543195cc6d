import type { JSX } from 'preact'
import type { ShownHistogram } from '../data/rows.ts'
import { histogramBars, histogramQuantile } from '../logic/histogram.ts'
import { secondsText } from '../logic/time.ts'

const WIDTH = 120
const HEIGHT = 28
const GAP = 1

/** Durations as small bars, with the median and the 99th percentile in words. */
export function Histogram({
  histogram,
  what,
}: {
  readonly histogram: ShownHistogram
  readonly what: string
}): JSX.Element {
  const bars = histogramBars(histogram)
  const median = histogramQuantile(histogram, 0.5)
  const high = histogramQuantile(histogram, 0.99)
  if (median === undefined || high === undefined) return <span class="muted">no data yet</span>
  const highest = Math.max(...bars.map(({ count }) => count))
  const slot = Math.min(14, WIDTH / bars.length)
  return (
    <span class="histogram">
      <svg
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${what}: median ${secondsText(median)}, 99 % within ${secondsText(high)}`}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} class="axis" />
        {bars.map(({ from, to, count }, index) => {
          // The root keeps rare durations visible.
          const height = count === 0 ? 0 : Math.max(2, (HEIGHT - 2) * Math.sqrt(count / highest))
          const end = to === Infinity ? `more than ${secondsText(from)}` : `up to ${secondsText(to)}`
          return (
            <rect key={from} class="bar" x={index * slot} y={HEIGHT - 1 - height} width={slot - GAP} height={height}>
              <title>{`${end}: ${count}`}</title>
            </rect>
          )
        })}
      </svg>
      <span class="quantiles">
        <span title="median">{secondsText(median)}</span>
        <span class="muted" title="99th percentile">
          p99 {secondsText(high)}
        </span>
      </span>
    </span>
  )
}
