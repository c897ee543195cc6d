import { type ControlPlane, type Fault, type InProcessTransport, startControlPlane } from '@tenure/controlplane'
import { Client, type Kind, type KubeObject, type Stored, type TransportRequest } from '@tenure/kube'
import type { View } from '@tenure/http'
import { ConfigMap } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import {
  createLogger,
  createMetrics,
  defineOperator,
  type LogLevel,
  type Metrics,
  type OperatorContext,
  runOperators,
} from '@tenure/runtime'
import { type Claim, claimOf } from '../api/claim.ts'
import { CLAIM_SELECTOR, LEADER_LEASE, MANAGED_SELECTOR, OPERATOR } from '../api/names.ts'
import type { PoolReports } from '../controllers/pool/controller.ts'
import { claimParts } from '../parts.ts'
import type { ClaimService, TakenClaim, TakeRequest } from '../handout/claim-service.ts'
import type { ClaimView } from '../handout/claim-view.ts'
import type { Pool } from '../handout/pools.ts'
import { FixtureTemplate, NAMESPACE, TEMPLATE } from './fixture-template.ts'

export { LAZY_SECRET, NAMESPACE, TEMPLATE } from './fixture-template.ts'

export const MINUTE = 60_000

export interface PoolFixture extends Partial<Omit<Pool, 'name' | 'source'>> {
  /** Default: TEMPLATE. */
  readonly template?: string
}

export interface ReplicaOptions {
  readonly maxClaimsPerCaller?: number
  /** Default true. */
  readonly leads?: boolean
  readonly seed?: number
  /** Default `info`. */
  readonly logLevel?: LogLevel
  /** Called before every request of the replica for the fault to inject. Default: none. */
  readonly faults?: (request: TransportRequest) => Fault | undefined
}

/** One process of the operator. */
export interface Replica {
  readonly service: ClaimService
  readonly view: ClaimView
  readonly reports: PoolReports
  readonly views: readonly View[]
  readonly metrics: Metrics
  readonly transport: InProcessTransport
  /** The Prometheus text of its metrics. */
  exposed(): Promise<string>
  stop(): Promise<void>
  /** Ends the process without another request. */
  crash(): Promise<void>
}

/** The claims operator, without HTTP, on the embedded control plane in virtual time. */
export class ClaimsFixture {
  readonly clock: VirtualClock
  readonly plane: ControlPlane
  readonly api: Client
  readonly templates = new Map<string, FixtureTemplate>()
  /** All requests of all replicas. */
  readonly requests: TransportRequest[] = []
  /** All lines that replicas logged. */
  readonly logged: string[] = []
  readonly #pools: Map<string, Pool>
  readonly #replicas = new Set<Replica>()

  private constructor(clock: VirtualClock, plane: ControlPlane, pools: Readonly<Record<string, PoolFixture>>) {
    this.clock = clock
    this.plane = plane
    this.api = new Client({ transport: plane.transport, clock, random: seededRandom(3) })
    this.#pools = new Map(
      Object.entries(pools).map(([name, { template = TEMPLATE, ...settings }]): [string, Pool] => {
        const source = new FixtureTemplate(clock, template)
        this.templates.set(name, source)
        const sizes = { count: 0, spare: undefined, min: 0, max: 100, cooldown: MINUTE }
        return [name, { ...sizes, defaultTtl: 10 * MINUTE, maxTtl: 30 * MINUTE, ...settings, name, source }]
      }),
    )
  }

  static async create(
    pools: Readonly<Record<string, PoolFixture>> = { default: { count: 2 } },
  ): Promise<ClaimsFixture> {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1))
    const plane = await startControlPlane({ port: false, clock, random: seededRandom(1) })
    return new ClaimsFixture(clock, plane, pools)
  }

  async replica(options: ReplicaOptions = {}): Promise<Replica> {
    const { faults, leads = true, logLevel = 'info', maxClaimsPerCaller = 0, seed = 5 } = options
    const { clock } = this
    const transport = this.plane.transportFor({
      faults: (request) => {
        this.requests.push(request)
        return faults?.(request)
      },
    })
    const end = new AbortController()
    const metrics = await createMetrics()
    const started = Promise.withResolvers<Replica>()
    const operator = defineOperator({
      name: 'claims',
      identity: { name: OPERATOR, leaderLease: LEADER_LEASE },
      setup: (context) => {
        const pools = new Map(this.#pools)
        const sizes = { resync: 30_000, defaultTtl: 10 * MINUTE }
        const parts = claimParts(context, { namespace: NAMESPACE, pools, maxClaimsPerCaller, ...sizes })
        const exposed = async (): Promise<string> => (await metrics.expose()).text
        started.resolve({ ...parts, metrics, transport, exposed, stop, crash })
        return {
          controllers: leads ? [parts.controller] : [],
          components: [
            ...parts.components,
            ...(leads ? [{ stage: 'lead' as const, create: (leader: OperatorContext) => parts.filler(leader) }] : []),
          ],
        }
      },
    })
    let isReady = false
    const ended = runOperators(
      {
        operators: [operator],
        transport,
        clock,
        random: seededRandom(seed),
        metrics,
        log: await createLogger({
          level: logLevel,
          format: 'text',
          clock,
          destination: { write: (line) => this.logged.push(line) },
        }),
        freeze: true,
        leaderElection: false,
        onReady: () => (isReady = true),
      },
      end.signal,
    )
    ended.catch((error: unknown) => started.reject(error))
    const stop = async (): Promise<void> => {
      end.abort()
      let isEnded = false
      const done = ended.finally(() => (isEnded = true))
      await clock.advanceUntil(() => isEnded)
      await done
      this.#replicas.delete(replica)
    }
    const crash = async (): Promise<void> => {
      transport.crash()
      await stop()
    }
    const replica = await started.promise
    this.#replicas.add(replica)
    await clock.advanceUntil(() => isReady && replica.view.informer.synced)
    return replica
  }

  /** Changes the settings of a pool for replicas that start from now on; undefined removes it. */
  configure(name: string, settings: Partial<Omit<Pool, 'name' | 'source'>> | undefined): void {
    const pool = this.#pools.get(name)
    if (pool && settings) this.#pools.set(name, { ...pool, ...settings })
    else this.#pools.delete(name)
  }

  async close(): Promise<void> {
    for (const replica of this.#replicas) await replica.stop()
    let isStopped = false
    const stopping = this.plane.stop().finally(() => (isStopped = true))
    await this.clock.advanceUntil(() => isStopped)
    await stopping
  }

  /** Takes a claim while time passes. */
  take({ service }: Replica, request: Partial<TakeRequest> = {}): Promise<TakenClaim> {
    const { signal } = new AbortController()
    const defaults = {
      pool: 'default',
      ttl: undefined,
      values: undefined,
      idempotencyKey: undefined,
      caller: 'me',
      signal,
    }
    return this.whilePassing(service.take({ ...defaults, ...request }))
  }

  /** Lets time pass until the promise settles. */
  async whilePassing<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = promise.finally(() => (isSettled = true))
    settled.catch(() => undefined)
    await this.clock.advanceUntil(() => isSettled)
    return await settled
  }

  async claims(): Promise<readonly Claim[]> {
    const { items } = await this.api.list(ConfigMap, { namespace: NAMESPACE, labelSelector: CLAIM_SELECTOR })
    return items.flatMap((object) => claimOf(object) ?? [])
  }

  async idle(pool = 'default'): Promise<readonly Claim[]> {
    return (await this.claims()).filter((claim) => claim.isIdle && claim.pool === pool)
  }

  /** The writes of claims since the last call, as `POST claim-x`. */
  takeWrites(): readonly string[] {
    const writes = this.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/configmaps'))
    this.requests.length = 0
    return writes.map(({ body, method, path }) => {
      const created = method === 'POST' ? (JSON.parse(String(body)) as KubeObject).metadata?.name : undefined
      return `${method} ${created ?? path.split(/[/?]/)[6] ?? ''}`
    })
  }

  /** Children of claims. */
  async children<T extends KubeObject>(kind: Kind<T>): Promise<readonly Stored<T>[]> {
    const { items } = await this.api.list(kind, { namespace: NAMESPACE, labelSelector: MANAGED_SELECTOR })
    return items.filter((object) => object.metadata.labels?.['claim-controller.io/claim.id'] === undefined)
  }

  /** Lets time pass until `look` resolves with a truthy value. */
  async until<R>(look: () => Promise<R>): Promise<R> {
    for (let passed = 0; passed < 20 * MINUTE; passed += 100) {
      const seen = await look()
      if (seen) return seen
      await this.clock.advance(100)
    }
    throw new Error('The condition was not met within 20 minutes of virtual time')
  }

  /** Lets time pass until the pool has its members ready. */
  async warm(count: number, pool = 'default'): Promise<void> {
    await this.until(async () => (await this.idle(pool)).filter(({ status }) => status === 'ready').length === count)
  }
}
