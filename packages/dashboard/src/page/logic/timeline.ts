/** Something that ends. */
export interface TimelineItem {
  /** The id of its row. */
  readonly id: string
  /** For people: `Claim`, or the kind of a leased object. */
  readonly kind: string
  /** The view that it belongs to. */
  readonly series: 'claims' | 'leases'
  readonly name: string
  readonly namespace?: string | undefined
  readonly expiresAt: number
}

export const TIMELINE_RANGES = {
  hour: { title: 'Next hour', length: 3_600_000, bars: 60, ticks: 6 },
  day: { title: 'Next day', length: 86_400_000, bars: 48, ticks: 6 },
  week: { title: 'Next week', length: 604_800_000, bars: 56, ticks: 7 },
} as const

export type TimelineRange = keyof typeof TIMELINE_RANGES

export interface TimelineBar {
  /** Milliseconds from now. */
  readonly from: number
  readonly to: number
  readonly claims: number
  readonly leases: number
}

export interface Timeline {
  readonly bars: readonly TimelineBar[]
  /** The most items of one bar. */
  readonly highest: number
  /** Items that end within the range. */
  readonly total: number
  /** The soonest of them. */
  readonly soonest: readonly TimelineItem[]
}

/** Counts what ends when, and finds the soonest, in one pass without sorting everything. */
export function timelineOf(
  items: Iterable<TimelineItem>,
  { range, now, limit }: { readonly range: TimelineRange; readonly now: number; readonly limit: number },
): Timeline {
  const { length, bars: count } = TIMELINE_RANGES[range]
  const width = length / count
  const bars = Array.from({ length: count }, (_, index) => ({
    from: index * width,
    to: (index + 1) * width,
    claims: 0,
    leases: 0,
  }))
  const soonest: TimelineItem[] = []
  let total = 0
  for (const item of items) {
    const left = item.expiresAt - now
    if (left >= length) continue
    total++
    // An overdue item is being deleted right now.
    const bar = bars[Math.max(0, Math.floor(left / width))]
    if (bar) bar[item.series]++
    insertSoonest(soonest, item, limit)
  }
  return { bars, total, soonest, highest: Math.max(0, ...bars.map(({ claims, leases }) => claims + leases)) }
}

function insertSoonest(soonest: TimelineItem[], item: TimelineItem, limit: number): void {
  const last = soonest.at(-1)
  if (soonest.length === limit && last && !isBefore(item, last)) return
  const index = soonest.findIndex((other) => isBefore(item, other))
  soonest.splice(index < 0 ? soonest.length : index, 0, item)
  if (soonest.length > limit) soonest.pop()
}

function isBefore(a: TimelineItem, b: TimelineItem): boolean {
  return a.expiresAt < b.expiresAt || (a.expiresAt === b.expiresAt && a.id < b.id)
}

/** The height of a bar from 0 to 1. The square root keeps one item visible beside thousands. */
export function barHeight(count: number, highest: number): number {
  return count === 0 || highest === 0 ? 0 : Math.sqrt(count / highest)
}
