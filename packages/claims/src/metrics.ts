import {
  collectorComponent,
  type ComponentDefinition,
  type Counter,
  type Family,
  type Gauge,
  type Histogram,
  type HistogramSnapshot,
  type Metrics,
} from '@tenure/runtime'
import type { Claim } from './api/claim.ts'
import { neededManifests } from './controllers/claim/resources.ts'
import { poolStatus } from './controllers/pool/status.ts'
import type { PoolReports } from './controllers/pool/controller.ts'
import type { ClaimView } from './handout/claim-view.ts'
import { type Pools, templateFailure } from './handout/pools.ts'

const PREFIX = 'claim_controller'
/** Seconds: the original's 1, 2, 4 … 128, and finer below a second, where warm claims are. */
const READY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128]
const RATIO_BUCKETS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 2, 3]
const DURATION_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400]

/** The operator's own metrics. Their names are the original's. */
export class ClaimMetrics {
  readonly #metrics: Metrics
  readonly #created: Counter
  readonly #onDemand: Counter
  readonly #reused: Counter
  readonly #preProvisioned: Counter
  readonly #released: Counter
  readonly #timedOut: Counter
  readonly #ready: Histogram
  readonly #handOuts: Family<Histogram>
  readonly #onHandOut: (pool: string) => void
  readonly #lifetimeRatio: Histogram
  readonly #usageRatio: Histogram
  readonly #lifetime: Histogram
  readonly #total: Histogram
  readonly #idle: Histogram
  readonly #usage: Histogram

  /** `onHandOut` is called with the pool of each claim that a caller gets. Default: nothing is called. */
  constructor(metrics: Metrics, onHandOut: (pool: string) => void = () => undefined) {
    const counter = (name: string, help: string): Counter =>
      metrics.counter({ name: `${PREFIX}_${name}`, help }).with({})
    const histogram = (name: string, help: string, buckets: readonly number[]): Histogram =>
      metrics.histogram({ name: `${PREFIX}_${name}`, help, buckets }).with({})
    this.#metrics = metrics
    this.#onHandOut = onHandOut
    this.#handOuts = metrics.histogram({
      name: `${PREFIX}_pool_handout_duration_seconds`,
      help: 'Time from the call until the claim was ready, by pool and by source: warm or cold.',
      labels: ['pool', 'source'],
      buckets: READY_BUCKETS,
    })
    this.#created = counter('claims_created_total', 'Number of claims that callers got.')
    this.#onDemand = counter(
      'claims_created_ondemand_total',
      'Number of claims made for a caller because the pool was empty.',
    )
    this.#reused = counter('claims_reused_preprovisioned_total', 'Number of claims handed out from a pool.')
    this.#preProvisioned = counter('claims_preprovisioned_created_total', 'Number of claims made for a pool.')
    this.#released = counter('claims_released_total', 'Number of claims that callers released.')
    this.#timedOut = counter('timedout_claims_total', 'Number of calls that timed out waiting for readiness.')
    this.#ready = histogram(
      'claim_ready_duration_seconds',
      'Time from the call until the claim was ready.',
      READY_BUCKETS,
    )
    this.#lifetimeRatio = histogram(
      'claim_lifetime_expected_ratio',
      'Lifetime of ended claims relative to their configured lifetime.',
      RATIO_BUCKETS,
    )
    this.#usageRatio = histogram(
      'claim_usage_expected_ratio',
      'Usage of ended claims relative to the usage that their expiry allowed.',
      RATIO_BUCKETS,
    )
    this.#lifetime = histogram(
      'claim_lifetime_duration_seconds',
      'Time from the creation of claims to their end.',
      DURATION_BUCKETS,
    )
    this.#total = histogram(
      'claim_total_duration_seconds',
      'Time from the creation of claims to their configured expiry.',
      DURATION_BUCKETS,
    )
    this.#idle = histogram(
      'claim_idle_duration_seconds',
      'Time from the creation of claims to their hand-out.',
      DURATION_BUCKETS,
    )
    this.#usage = histogram(
      'claim_usage_duration_seconds',
      'Time from the hand-out of claims to their end.',
      DURATION_BUCKETS,
    )
  }

  /** A member was handed out, or a claim was made for a caller. */
  acquired(isWarm: boolean): void {
    ;(isWarm ? this.#reused : this.#onDemand).inc()
  }

  /** A caller gets its claim. */
  taken({ claimedAt, createdAt, pool }: Claim, isWarm: boolean, seconds: number): void {
    this.#created.inc()
    this.#ready.observe(seconds)
    this.#handOutsOf(pool, isWarm).observe(seconds)
    this.#onHandOut(pool)
    // Times are stored in whole seconds: a claim made for its caller was never idle.
    this.#idle.observe(isWarm ? secondsBetween(createdAt, claimedAt ?? createdAt) : 0)
  }

  /** How long the callers of this process waited for claims of a pool: for its members, and for claims made for them. */
  handOuts(pool: string): { readonly warm: HistogramSnapshot; readonly cold: HistogramSnapshot } {
    return { warm: this.#handOutsOf(pool, true).snapshot(), cold: this.#handOutsOf(pool, false).snapshot() }
  }

  #handOutsOf(pool: string, isWarm: boolean): Histogram {
    return this.#handOuts.with({ pool, source: isWarm ? 'warm' : 'cold' })
  }

  /** The pool got a member. */
  memberCreated(): void {
    this.#preProvisioned.inc()
  }

  timedOut(): void {
    this.#timedOut.inc()
  }

  /** A caller released its claim. */
  released(claim: Claim, now: number): void {
    this.#released.inc()
    this.#ended(claim, now)
  }

  /** The time of a claim was over. */
  expired(claim: Claim, now: number): void {
    this.#ended(claim, now)
  }

  #ended({ claimedAt, createdAt, expiresAt }: Claim, now: number): void {
    const since = claimedAt ?? createdAt
    const lifetime = secondsBetween(createdAt, now)
    const usage = secondsBetween(since, now)
    this.#lifetime.observe(lifetime)
    this.#usage.observe(usage)
    if (expiresAt === undefined) return
    const total = secondsBetween(createdAt, expiresAt)
    this.#total.observe(total)
    if (total > 0) this.#lifetimeRatio.observe(lifetime / total)
    if (expiresAt > since) this.#usageRatio.observe(usage / secondsBetween(since, expiresAt))
  }

  /** Computes the gauges on each scrape. */
  collector(sources: CollectorSources): ComponentDefinition {
    const metrics = this.#metrics
    const gauge = (name: string, help: string): Gauge => metrics.gauge({ name: `${PREFIX}_${name}`, help }).with({})
    const claims = gauge('active_claims', 'Number of claims.')
    const resources = gauge('active_resources', 'Number of resources that belong to claims.')
    const members = metrics.gauge({
      name: `${PREFIX}_pool_members`,
      help: 'Number of members of each pool by state.',
      labels: ['pool', 'state'],
    })
    const failing = metrics.gauge({
      name: `${PREFIX}_pool_failing`,
      help: '1 if the members of the pool fail or its template cannot be used.',
      labels: ['pool'],
    })
    const collect = (): void => {
      const all = sources.view.all().filter(({ isTerminating }) => !isTerminating)
      claims.set(all.length)
      resources.set(all.reduce((sum, claim) => sum + resourceCount(claim), 0))
      for (const pool of sources.pools.values()) {
        const history = sources.reports.histories.get(pool.name)
        const context = { history, templateFailure: templateFailure(pool), now: sources.now() }
        const status = poolStatus(pool.name, sources.view.ofPool(pool.name), context)
        for (const state of ['ready', 'pending', 'failing', 'claimed'] as const)
          members.with({ pool: pool.name, state }).set(status[state])
        const isFailing = status.templateFailure !== undefined || (history?.failures ?? 0) > 0
        failing.with({ pool: pool.name }).set(isFailing ? 1 : 0)
      }
    }
    return collectorComponent('claim metrics', metrics, collect)
  }
}

export interface CollectorSources {
  readonly view: ClaimView
  readonly pools: Pools
  readonly reports: PoolReports
  now(): number
}

function resourceCount(claim: Claim): number {
  try {
    return neededManifests(claim).length
  } catch {
    // A hand-made claim without resources.
    return 0
  }
}

function secondsBetween(from: number, to: number): number {
  return Math.max(0, (to - from) / 1_000)
}
