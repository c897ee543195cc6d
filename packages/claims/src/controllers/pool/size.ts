/** How many members a pool keeps. */
export interface PoolSizeSettings {
  /** Idle members; counts unless `spare` is set. */
  readonly count: number
  /** Idle members beyond those that are claimed. Undefined: the pool does not follow demand. */
  readonly spare: number | undefined
  /** Claimed and idle members together. */
  readonly min: number
  readonly max: number
  /** Milliseconds before a pool that follows demand gets smaller. */
  readonly cooldown: number
}

/** The wanted size of a pool that follows demand, over time. */
export interface DemandHistory {
  /** Wanted sizes, claimed and idle together, of the last `cooldown`, falling: the first is the present size. */
  readonly peaks: readonly { readonly total: number; readonly until: number }[]
}

export const NO_DEMAND: DemandHistory = { peaks: [] }

export interface PoolSize {
  /** Idle members to keep. */
  readonly idle: number
  /** When the size may fall although nothing changes: milliseconds since 1970. */
  readonly again: number | undefined
  readonly demand: DemandHistory
}

/** The number of idle members to keep. By demand: claimed + spare within min and max, lowered only after the cooldown. */
export function poolSize(settings: PoolSizeSettings, claimed: number, now: number, demand: DemandHistory): PoolSize {
  const { cooldown, count, max, min, spare } = settings
  if (spare === undefined) return { idle: count, again: undefined, demand: NO_DEMAND }
  const wanted = Math.min(Math.max(claimed + spare, min), max)
  const latest = { total: wanted, until: now + cooldown }
  // A peak counts until its cooldown is over; smaller peaks before a larger one never count again.
  const peaks = [...demand.peaks.filter(({ total, until }) => total > wanted && until > now), latest]
  const [peak = latest] = peaks
  return {
    idle: Math.max(0, peak.total - claimed),
    again: peaks.length > 1 ? peak.until : undefined,
    demand: { peaks },
  }
}
