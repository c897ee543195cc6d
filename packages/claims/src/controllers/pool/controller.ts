import { asError, isConflict, isNotFound, type KubeObject, type Stored } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { type Component, type OperatorContext, QueueWorker, type Requeue, type WorkContext } from '@tenure/runtime'
import type { Claim } from '../../api/claim.ts'
import { newClaimId } from '../../api/id.ts'
import { DEFAULT_POOL, LABELS, LEADER_LEASE, REASONS } from '../../api/names.ts'
import type { ClaimView } from '../../handout/claim-view.ts'
import { type ClaimMakerContext, makeClaim } from '../../handout/make-claim.ts'
import type { Pool, Pools } from '../../handout/pools.ts'
import { ClaimTemplateError } from '../../template/types.ts'
import { newHistory, planPool, type PoolHistory, type RemovalReason } from './plan.ts'
import { type DemandHistory, NO_DEMAND, poolSize } from './size.ts'

/** Members of one pool that are created or removed at once. */
const MAX_CONCURRENT_WRITES = 16
const BACKOFF = { base: 200, max: 30_000 }

export interface PoolControllerOptions {
  readonly pools: Pools
  readonly view: ClaimView
  readonly kinds: ClaimMakerContext['kinds']
  readonly namespace: string
  readonly onMemberCreated: () => void
  readonly reports: PoolReports
}

/** The histories of the pools, which only the leader knows. */
export class PoolReports {
  readonly histories = new Map<string, PoolHistory>()
}

/** Keeps every pool at its size, on the leader. A pool is not a Kubernetes object, so its plan runs in a QueueWorker. */
export function poolController(leader: OperatorContext, options: PoolControllerOptions): Component {
  const { clock, log, metrics } = leader
  const { pools, view } = options
  const fillers = new Map([...pools.values()].map((pool) => [pool.name, new PoolFiller(leader, options, pool)]))
  const worker = new QueueWorker({
    name: 'pool',
    clock,
    log,
    metrics,
    backoff: BACKOFF,
    // Every pool has a worker, so that a slow one does not delay another.
    concurrency: Math.max(pools.size, 1),
    work: (name, context) => fillers.get(name)?.work(context) ?? Promise.resolve(),
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
      options.reports.histories.clear()
    },
  }
}

/** Creates and removes the members of one pool. */
class PoolFiller {
  readonly #leader: OperatorContext
  readonly #options: PoolControllerOptions
  readonly #pool: Pool
  #history: PoolHistory = newHistory('')
  #demand: DemandHistory = NO_DEMAND
  #reportedTemplate: string | undefined

  constructor(leader: OperatorContext, options: PoolControllerOptions, pool: Pool) {
    this.#leader = leader
    this.#options = options
    this.#pool = pool
  }

  async work({ signal }: WorkContext): Promise<Requeue | void> {
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
    const plan = planPool({ now, revision, claims, size, history: this.#history })
    this.#noteFailures(plan.history, claims)
    this.#history = plan.history
    reports.histories.set(pool.name, plan.history)
    await inBatches(plan.remove, ({ claim, reason }) => this.#remove(claim, reason, signal))
    await inBatches(Array.from({ length: plan.create }), () => this.#create(signal))
    return plan.again === undefined ? undefined : { requeueAfter: Math.max(plan.again - clock.now(), 1) }
  }

  #revision(): string | undefined {
    try {
      const { revision } = this.#pool.source.current()
      this.#reportedTemplate = undefined
      return revision
    } catch (error) {
      this.#templateFailed(asError(error))
      return undefined
    }
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { api, random } = this.#leader
    const { kinds, namespace, onMemberCreated } = this.#options
    try {
      const id = newClaimId(random)
      await makeClaim({ api, kinds, namespace }, { id, pool: this.#pool, handOut: undefined, signal })
      onMemberCreated()
    } catch (error) {
      if (error instanceof ClaimTemplateError) this.#templateFailed(error)
      throw error
    }
  }

  /** The state is a precondition: a member that is handed out in this moment stays. */
  async #remove({ object }: Claim, reason: RemovalReason, signal: AbortSignal): Promise<void> {
    const { api, recorder } = this.#leader
    const { name, namespace, uid, resourceVersion } = object.metadata
    try {
      await api.delete(
        ConfigMap,
        { name, namespace },
        { preconditions: { uid, resourceVersion }, propagation: 'Background', signal },
      )
      const message = `The member of the pool ${this.#pool.name} was removed: ${REMOVALS[reason]}`
      recorder.record(object, { type: 'Normal', reason: REASONS.memberReplaced, message })
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  #noteFailures(history: PoolHistory, claims: readonly Claim[]): void {
    const { recorder, log } = this.#leader
    const { name } = this.#pool
    const before = this.#history.revision === history.revision ? this.#history.failures : 0
    if (history.failures > before) {
      const failing = claims.find((claim) => claim.isIdle && claim.message === history.lastFailure)
      const message = `Members of the pool ${name} fail: ${history.lastFailure}`
      log.warn('pool members fail', { pool: name, failures: history.failures, reason: history.lastFailure })
      if (failing) recorder.record(failing.object, { type: 'Warning', reason: REASONS.poolFailing, message })
    } else if (history.failures === 0 && before > 0) {
      log.info('pool recovered', { pool: name })
      const ready = claims.find((claim) => claim.isIdle && claim.status === 'ready')
      const message = `Members of the pool ${name} become ready again`
      if (ready) recorder.record(ready.object, { type: 'Normal', reason: REASONS.poolRecovered, message })
    }
  }

  /** Events about a pool regard the ConfigMap of its values, or the Lease of the election: a pool is not an object. */
  #subject(): Stored<KubeObject> {
    const { identity } = this.#leader
    const { namespace } = this.#options
    const { owner } = this.#pool.source
    const about = owner
      ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...owner, namespace } }
      : {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: identity.lease?.name ?? LEADER_LEASE, namespace, uid: '' },
        }
    return { ...about, metadata: { resourceVersion: '', creationTimestamp: '', ...about.metadata } }
  }

  #templateFailed(error: Error): void {
    if (this.#reportedTemplate === error.message) return
    this.#reportedTemplate = error.message
    const { log, recorder } = this.#leader
    log.warn('pool template cannot be used', { pool: this.#pool.name, error })
    const message = `The template of the pool ${this.#pool.name} cannot be used: ${error.message}`
    recorder.record(this.#subject(), { type: 'Warning', reason: REASONS.templateFailed, message })
  }
}

const REMOVALS: Readonly<Record<RemovalReason, string>> = {
  outdated: 'the template or its values have changed',
  surplus: 'the pool has more members than it needs',
  failed: 'it cannot become ready',
}

/** Works on at most `MAX_CONCURRENT_WRITES` items at once; the first error is thrown when the others have ended. */
async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += MAX_CONCURRENT_WRITES) {
    const results = await Promise.allSettled(items.slice(at, at + MAX_CONCURRENT_WRITES).map(work))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw asError(failed.reason)
  }
}
