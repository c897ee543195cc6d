import { asError, isConflict, isNotFound } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { type Component, type OperatorContext, QueueWorker, type Requeue } from '@tenure/runtime'
import type { Claim } from '../../api/claim.ts'
import { newClaimId } from '../../api/id.ts'
import { DEFAULT_POOL, LABELS, REASONS } from '../../api/names.ts'
import type { ClaimView } from '../../handout/claim-view.ts'
import { type ClaimMakerContext, makeClaim } from '../../handout/make-claim.ts'
import type { Pool, Pools } from '../../handout/pools.ts'
import { TemplateFailures } from '../../handout/template-failures.ts'
import { ClaimTemplateError } from '../../template/types.ts'
import { BoundedWrites } from './bounded-writes.ts'
import { newHistory, planPool, type PoolHistory, type RemovalReason } from './plan.ts'
import { type DemandHistory, NO_DEMAND, poolSize } from './size.ts'

/** Writes of one pool that are under way at once. */
const MAX_CONCURRENT_WRITES = 16
/** After this long the pool is planned again although some writes are under way: one slow write must not stop the refill. */
const MAX_ROUND_MS = 500
const BACKOFF = { base: 200, max: 30_000 }

export interface PoolControllerOptions {
  readonly pools: Pools
  readonly view: ClaimView
  readonly kinds: ClaimMakerContext['kinds']
  readonly namespace: string
  readonly onMemberCreated: () => void
  readonly reports: PoolReports
}

/** State of the pools, which only the leader knows. */
export class PoolReports {
  readonly #histories = new Map<string, PoolHistory>()
  readonly #targets = new Map<string, number>()
  readonly #listeners = new Set<(pool: string) => void>()

  get histories(): ReadonlyMap<string, PoolHistory> {
    return this.#histories
  }

  /** Idle members that the pools keep. */
  get targets(): ReadonlyMap<string, number> {
    return this.#targets
  }

  report(pool: string, history: PoolHistory, target: number): void {
    this.#histories.set(pool, history)
    this.#targets.set(pool, target)
    this.changed(pool)
  }

  /** This process does not lead any more. */
  clear(): void {
    const pools = [...this.#histories.keys()]
    this.#histories.clear()
    this.#targets.clear()
    for (const pool of pools) this.changed(pool)
  }

  /** Figures of a pool changed, apart from those of its claims. */
  changed(pool: string): void {
    for (const listener of this.#listeners) listener(pool)
  }

  /** Calls `listener` with each pool whose state changed. Returns a function that ends that. */
  onChange(listener: (pool: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

/** Keeps every pool at its size, on the leader. A pool is not a Kubernetes object, so its plan runs in a QueueWorker. */
export function poolController(leader: OperatorContext, options: PoolControllerOptions): Component {
  const { clock, log, metrics } = leader
  const { pools, view } = options
  const fillers = new Map([...pools.values()].map((pool) => [pool.name, new PoolFiller(leader, options, pool)]))
  const worker: QueueWorker = new QueueWorker({
    name: 'pool',
    clock,
    log,
    metrics,
    backoff: BACKOFF,
    // Every pool has a worker, so that a slow one does not delay another.
    concurrency: pools.size + 1,
    work: (name, { signal }) => fillers.get(name)?.work(signal) ?? removeAll(leader, view.ofPool(name), signal),
  })
  const ends: (() => void)[] = []
  return {
    name: 'pools',
    start: async () => {
      await worker.start()
      ends.push(
        view.informer.subscribe(({ object }) => worker.add(object.metadata.labels?.[LABELS.pool] ?? DEFAULT_POOL)),
        ...[...pools.values()].map(({ name, source }) =>
          source.onChange(() => {
            // A change may be the repair: it is tried at once.
            worker.forget(name)
            worker.add(name)
          }),
        ),
      )
      for (const name of pools.keys()) worker.add(name)
    },
    stop: async (grace) => {
      for (const end of ends.splice(0)) end()
      await worker.stop(grace)
      await Promise.all([...fillers.values()].map((filler) => filler.idle()))
      options.reports.clear()
    },
  }
}

/** Creates and removes the members of one pool. */
class PoolFiller {
  readonly #leader: OperatorContext
  readonly #options: PoolControllerOptions
  readonly #pool: Pool
  #history: PoolHistory = newHistory('')
  readonly #templates: TemplateFailures
  readonly #writes = new BoundedWrites(MAX_CONCURRENT_WRITES)
  /** Creations that are under way. */
  #creating = 0
  /** Members whose removal is under way. */
  readonly #removing = new Set<string>()
  #demand: DemandHistory = NO_DEMAND
  /** Since members failed, until one is ready: also of another template, which may be the repair. */
  #isFailing = false

  constructor(leader: OperatorContext, options: PoolControllerOptions, pool: Pool) {
    this.#leader = leader
    this.#options = options
    this.#pool = pool
    this.#templates = new TemplateFailures(leader, options.namespace)
  }

  async work(signal: AbortSignal): Promise<Requeue | undefined> {
    const { clock } = this.#leader
    const { reports, view } = this.#options
    const pool = this.#pool
    const now = clock.now()
    const claims = view.ofPool(pool.name)
    const claimed = claims.filter((claim) => !claim.isIdle).length
    const size = poolSize(pool, claimed, now, this.#demand)
    this.#demand = size.demand
    const revision = this.#revision()
    // Without a usable template nothing can be made, and what there is may still be right.
    if (revision === undefined) return undefined
    const creating = this.#creating
    const plan = planPool({ now, revision, claims, size, history: this.#history, creating })
    this.#noteFailures(plan.history, claims)
    this.#history = plan.history
    reports.report(pool.name, plan.history, size.idle)
    // Creations come first: callers wait for them.
    for (let number = 0; number < plan.create; number++) this.#writes.add(() => this.#create(signal))
    this.#creating += plan.create
    for (const { claim, reason } of plan.remove) {
      if (this.#removing.has(claim.id)) continue
      this.#removing.add(claim.id)
      this.#writes.add(() => this.#remove(claim, reason, signal))
    }
    const isDone = await this.#writes.settled(clock, MAX_ROUND_MS)
    const again = plan.again === undefined ? Infinity : Math.max(plan.again - clock.now(), 1)
    // A plan that counted creations under way is made again when they have ended.
    const after = isDone ? (creating > 0 ? 1 : again) : Math.min(again, MAX_ROUND_MS)
    return Number.isFinite(after) ? { requeueAfter: after } : undefined
  }

  /** Resolves when no write is under way. */
  async idle(): Promise<void> {
    await this.#writes.idle()
  }

  #revision(): string | undefined {
    try {
      return this.#pool.source.current().revision
    } catch (error) {
      this.#templates.report(this.#pool, asError(error))
      return undefined
    }
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { api, random } = this.#leader
    const { kinds, namespace, onMemberCreated } = this.#options
    let isCounted = true
    // From here on the view counts the member.
    const onCreated = (): void => {
      if (isCounted) this.#creating--
      isCounted = false
    }
    try {
      const id = newClaimId(random)
      await makeClaim({ api, kinds, namespace }, { id, pool: this.#pool, handOut: undefined, signal }, onCreated)
      onMemberCreated()
      this.#templates.clear(this.#pool)
    } catch (error) {
      if (error instanceof ClaimTemplateError) this.#templates.report(this.#pool, error)
      throw error
    } finally {
      onCreated()
    }
  }

  async #remove(claim: Claim, reason: RemovalReason, signal: AbortSignal): Promise<void> {
    try {
      await removeMember(this.#leader, claim, reason, signal)
    } finally {
      this.#removing.delete(claim.id)
    }
  }

  #noteFailures(history: PoolHistory, claims: readonly Claim[]): void {
    const { recorder, log } = this.#leader
    const { name } = this.#pool
    const before = this.#history.revision === history.revision ? this.#history.failures : 0
    if (history.failures > before) {
      this.#isFailing = true
      const failing = claims.find((claim) => claim.isIdle && claim.message === history.lastFailure)
      const message = `Members of the pool ${name} fail: ${history.lastFailure}`
      log.warn('pool members fail', { pool: name, failures: history.failures, reason: history.lastFailure })
      if (failing) recorder.record(failing.object, { type: 'Warning', reason: REASONS.poolFailing, message })
    } else if (this.#isFailing && history.failures === 0 && history.isProven) {
      this.#isFailing = false
      log.info('pool recovered', { pool: name })
      const ready = claims.find((claim) => claim.isIdle && claim.status === 'ready')
      const message = `Members of the pool ${name} become ready again`
      if (ready) recorder.record(ready.object, { type: 'Normal', reason: REASONS.poolRecovered, message })
    }
  }
}

const REMOVALS: Readonly<Record<RemovalReason, string>> = {
  outdated: 'the template or its values have changed',
  surplus: 'the pool has more members than it needs',
  failed: 'it cannot become ready',
}

/** The pool is not configured any more: its members would stay for good. */
async function removeAll(leader: OperatorContext, claims: readonly Claim[], signal: AbortSignal): Promise<undefined> {
  for (const claim of claims) if (claim.isIdle) await removeMember(leader, claim, 'surplus', signal)
}

/** The state is a precondition: a member that is handed out in this moment stays. */
async function removeMember(
  { api, recorder }: OperatorContext,
  { object, pool }: Claim,
  reason: RemovalReason,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid, resourceVersion } = object.metadata
  try {
    const preconditions = { uid, resourceVersion }
    await api.delete(ConfigMap, { name, namespace }, { preconditions, propagation: 'Background', signal })
    const message = `The member of the pool ${pool} was removed: ${REMOVALS[reason]}`
    recorder.record(object, { type: 'Normal', reason: REASONS.memberReplaced, message })
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error
  }
}
