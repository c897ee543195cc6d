import type { View } from '@tenure/http'
import type { HistogramSnapshot, OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import { DEFAULT_POOL, LABELS } from '../../api/names.ts'
import type { PoolReports } from '../../controllers/pool/controller.ts'
import { NO_DEMAND, poolSize } from '../../controllers/pool/size.ts'
import { poolStatus } from '../../controllers/pool/status.ts'
import type { ClaimView } from '../../handout/claim-view.ts'
import { type Pool, type Pools, templateFailure } from '../../handout/pools.ts'
import type { ClaimMetrics } from '../../metrics.ts'
import { CLAIMS_RESOURCE } from './claims-view.ts'

const schema = z.object({
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  /** Idle members that the pool keeps. */
  target: z.int(),
  /** Idle members that are ready. */
  warm: z.int(),
  claimed: z.int(),
  pending: z.int(),
  failing: z.int(),
  /** Claims that callers got from this process: from the pool, and made for them. */
  claimsWarm: z.int(),
  claimsCold: z.int(),
  /** Seconds from the call until the claim was ready, in this process. Counts are cumulative; the last is that of +Inf. */
  handoutSeconds: z.object({
    le: z.array(z.number()),
    counts: z.array(z.int()),
    sum: z.number(),
    count: z.int(),
  }),
  lastFailure: z.string().optional(),
  /** No member is made before. */
  failedUntil: z.int().optional(),
  /** In milliseconds. */
  defaultTtl: z.int(),
  maxTtl: z.int(),
})

export type PoolRow = z.output<typeof schema>

export interface PoolsViewOptions {
  readonly namespace: string
  readonly pools: Pools
  readonly view: ClaimView
  readonly reports: PoolReports
  readonly metrics: ClaimMetrics
}

/** The configured pools. Targets and failures are those of the leader, as far as this process knows them. */
export function poolsView({ clock }: Pick<OperatorContext, 'clock'>, options: PoolsViewOptions): View<PoolRow> {
  const { pools, reports, view } = options
  return {
    name: 'pools',
    title: 'Pools',
    schema,
    resourceOf: () => CLAIMS_RESOURCE,
    *rows() {
      for (const pool of pools.values()) yield rowOf(pool, options, clock.now())
    },
    row(id) {
      const pool = pools.get(id)
      return pool && rowOf(pool, options, clock.now())
    },
    subscribe(listener) {
      const ends = [
        view.informer.subscribe(({ object }) => listener(object.metadata.labels?.[LABELS.pool] ?? DEFAULT_POOL), {
          replay: false,
        }),
        reports.onChange(listener),
        ...Array.from(pools.values(), ({ name, source }) => source.onChange(() => listener(name))),
      ]
      return () => ends.forEach((end) => end())
    },
  }
}

function rowOf(pool: Pool, { metrics, namespace, reports, view }: PoolsViewOptions, now: number): PoolRow {
  const { defaultTtl, maxTtl, name } = pool
  const context = { history: reports.histories.get(name), templateFailure: templateFailure(pool), now }
  const status = poolStatus(name, view.ofPool(name), context)
  const { claimed, failing, nextAttemptAt, pending, ready } = status
  const lastFailure = status.templateFailure ?? status.lastFailure
  const { cold, warm } = metrics.handOuts(name)
  return {
    id: name,
    name,
    namespace,
    // Other replicas do not know for how long a pool that follows demand stays larger.
    target: reports.targets.get(name) ?? poolSize(pool, claimed, now, NO_DEMAND).idle,
    warm: ready,
    claimed,
    pending,
    failing,
    claimsWarm: warm.count,
    claimsCold: cold.count,
    handoutSeconds: sumOf(warm, cold),
    ...(lastFailure !== undefined && { lastFailure }),
    ...(nextAttemptAt !== undefined && { failedUntil: nextAttemptAt }),
    defaultTtl,
    maxTtl,
  }
}

/** Two histograms with the same buckets as one. */
function sumOf(a: HistogramSnapshot, b: HistogramSnapshot): PoolRow['handoutSeconds'] {
  return {
    le: [...a.le],
    counts: a.counts.map((count, bucket) => count + (b.counts[bucket] ?? 0)),
    sum: a.sum + b.sum,
    count: a.count + b.count,
  }
}
