import type { JSX } from 'preact'
import { absoluteText, roughDurationText } from '../logic/time.ts'
import {
  barHeight,
  type Timeline,
  TIMELINE_RANGES,
  type TimelineItem,
  timelineOf,
  type TimelineRange,
} from '../logic/timeline.ts'
import { formatRoute, type PageRoute } from '../logic/route.ts'
import { number } from '../parts/filter-bar.tsx'
import { Section } from '../parts/panel.tsx'
import { useBeat, useServices } from '../parts/services.ts'
import { Countdown } from '../parts/time.tsx'

interface TimelineChartProps {
  readonly items: () => Iterable<TimelineItem>
  readonly route: PageRoute
}

/** Items that have a line of their own. */
const MAX_LINES = 14
/** Seconds between two drawings: the bars move slowly, only the countdowns change every second. */
const DRAW_SECONDS = 5

const RANGES = Object.keys(TIMELINE_RANGES) as readonly TimelineRange[]

/** Shows what ends when: how much in each span of time, and the soonest one by one on the same axis. */
export function TimelineChart({ items, route }: TimelineChartProps): JSX.Element {
  const { clock, navigation } = useServices()
  useBeat(DRAW_SECONDS)
  const range = RANGES.find((name) => name === route.query['range']) ?? 'hour'
  const now = clock.now()
  const timeline = timelineOf(items(), { range, now, limit: MAX_LINES })
  const { length } = TIMELINE_RANGES[range]
  return (
    <Section
      title="What ends when"
      class="timeline"
      aside={
        <div class="segments" role="group" aria-label="Range">
          {RANGES.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === range}
              onClick={() => navigation.setQuery({ range: name === 'hour' ? undefined : name })}
            >
              {TIMELINE_RANGES[name].title}
            </button>
          ))}
        </div>
      }
    >
      <p class="timeline-summary">
        {timeline.total === 0
          ? `Nothing ends in the ${TIMELINE_RANGES[range].title.toLowerCase()}.`
          : `${number(timeline.total)} ${timeline.total === 1 ? 'thing ends' : 'things end'} in the ${TIMELINE_RANGES[range].title.toLowerCase()}.`}
        <span class="legend" aria-hidden="true">
          <span class="swatch claims" /> claims
          <span class="swatch leases" /> leases
        </span>
      </p>
      <div class="timeline-grid">
        <div class="timeline-label" />
        <Bars timeline={timeline} range={range} now={now} />
        <div class="timeline-label" />
        <Axis range={range} />
      </div>
      {timeline.soonest.length > 0 && (
        <ul class="soonest" aria-label="The soonest">
          {timeline.soonest.map(({ id, kind, name, namespace, series, expiresAt }) => (
            <li key={`${series} ${id}`}>
              <a
                href={formatRoute([series], { id })}
                title={`${kind} ${name}${namespace === undefined ? '' : ` in ${namespace}`}`}
              >
                <span class="kind">{kind}</span> {name}
              </a>
              <span class="lane" aria-hidden="true">
                <span
                  class={`lane-bar ${series}`}
                  style={{ width: `${Math.max(0.5, Math.min(100, (100 * (expiresAt - now)) / length))}%` }}
                />
              </span>
              <Countdown at={expiresAt} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

const WIDTH = 1_000
const HEIGHT = 84

interface BarsProps {
  readonly timeline: Timeline
  readonly range: TimelineRange
  readonly now: number
}

function Bars({ timeline, range, now }: BarsProps): JSX.Element {
  const { bars, highest, total } = timeline
  const { title, ticks } = TIMELINE_RANGES[range]
  const slot = WIDTH / bars.length
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${title}: ${number(total)} things end, at most ${number(highest)} in ${roughDurationText(TIMELINE_RANGES[range].length / bars.length)}`}
    >
      {Array.from({ length: ticks + 1 }, (_, index) => (
        <line
          key={index}
          class="tick"
          x1={(index * WIDTH) / ticks}
          x2={(index * WIDTH) / ticks}
          y1="0"
          y2={HEIGHT}
          vector-effect="non-scaling-stroke"
        />
      ))}
      {bars.map(({ from, to, claims, leases }, index) => {
        const count = claims + leases
        if (count === 0) return null
        const height = Math.max(3, barHeight(count, highest) * (HEIGHT - 4))
        const claimHeight = (height * claims) / count
        return (
          <g key={from}>
            <title>{`${absoluteText(now + from)} – ${absoluteText(now + to)}: ${number(claims)} claims, ${number(leases)} leases`}</title>
            <rect
              class="leases"
              x={index * slot + slot * 0.1}
              y={HEIGHT - height}
              width={slot * 0.8}
              height={height - claimHeight}
            />
            <rect
              class="claims"
              x={index * slot + slot * 0.1}
              y={HEIGHT - claimHeight}
              width={slot * 0.8}
              height={claimHeight}
            />
          </g>
        )
      })}
      <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} vector-effect="non-scaling-stroke" />
    </svg>
  )
}

function Axis({ range }: { readonly range: TimelineRange }): JSX.Element {
  const { length, ticks } = TIMELINE_RANGES[range]
  return (
    <div class="axis-texts" aria-hidden="true">
      {Array.from({ length: ticks + 1 }, (_, index) => (
        <span key={index}>{index === 0 ? 'now' : roughDurationText((index * length) / ticks)}</span>
      ))}
    </div>
  )
}
