import { defineKind, mergePatch } from '@tenure/kube'
import type { Client, KubeObject, Stored } from '@tenure/kube'
import { ConfigMap } from '../programs/cluster.ts'
import type { ClaimsClient } from './claims-client.ts'
import { pause } from './operator-process.ts'

const ARRIVALS_PER_SECOND = 45
const LOOP_SECONDS = 60
/** Milliseconds that a caller uses its claim. */
const USE_MS = 500
const MAX_FAILURES_SHOWN = 3
/** As many as the operator creates at once. */
const CREATES_AT_ONCE = 16

export interface Pod extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

export const Pod = defineKind<Pod>({ apiVersion: 'v1', kind: 'Pod' })

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false
}

export interface LoopResult {
  /** Milliseconds of each hand-out, from the arrival of its caller. */
  readonly took: readonly number[]
  readonly failures: number
  /** The share of claims from the pool. */
  readonly warm: number
}

/** The behaviour of a caller. */
interface Caller {
  /** Resolves with the claim, and whether it came from the pool. */
  take(): Promise<{ readonly id: string; readonly preProvisioned: boolean }>
  release(id: string): Promise<void>
}

/** Callers arrive at random, whether or not the earlier ones have been served. */
export async function openLoop(caller: Caller | ClaimsClient, random: () => number): Promise<LoopResult> {
  const took: number[] = []
  const calls: Promise<void>[] = []
  let failures = 0
  let warm = 0
  const call = async (arrival: number): Promise<void> => {
    try {
      const { id, preProvisioned } = await caller.take()
      took.push(performance.now() - arrival)
      if (preProvisioned) warm++
      await pause(USE_MS)
      await caller.release(id)
    } catch (error) {
      if (failures++ < MAX_FAILURES_SHOWN) process.stderr.write(`  ${String(error)}\n`)
    }
  }
  const began = performance.now()
  for (let at = 0; ;) {
    at += (-Math.log(1 - random()) / ARRIVALS_PER_SECOND) * 1_000
    if (at > LOOP_SECONDS * 1_000) break
    const ahead = began + at - performance.now()
    if (ahead > 0) await pause(ahead)
    calls.push(call(began + at))
  }
  await Promise.all(calls)
  return { took, failures, warm: warm / calls.length }
}

/**
 * A pool of claims with a Pod each, by the writes alone that the operator makes for them: without an HTTP API, recovery,
 * events or a second process. It shows what the cluster itself takes.
 */
export class BarePool implements Caller {
  readonly #client: Client
  readonly #namespace: string
  readonly #like: Stored<ConfigMap>
  readonly #ready: Stored<ConfigMap>[] = []
  readonly #pending = new Map<string, Stored<ConfigMap>>()
  readonly #waiting: ((member: Stored<ConfigMap>) => void)[] = []
  readonly #ended = new AbortController()
  #watching: Promise<void> = Promise.resolve()
  #wanted = 0
  #creating = 0
  #count = 0

  /** The claims get the content of `like`. */
  constructor(client: Client, namespace: string, like: Stored<ConfigMap>) {
    this.#client = client
    this.#namespace = namespace
    this.#like = like
  }

  /** Resolves when the pool has this many members. */
  async fill(count: number): Promise<void> {
    const { resourceVersion } = (await this.#client.list(Pod, { namespace: this.#namespace })).metadata
    this.#watching = this.#watch(resourceVersion)
    for (let index = 0; index < count; index++) this.#refill()
    while (this.#ready.length < count) await pause(100)
  }

  async take(): Promise<{ readonly id: string; readonly preProvisioned: boolean }> {
    const known = this.#ready.shift()
    const member = known ?? (await new Promise<Stored<ConfigMap>>((resolve) => this.#waiting.push(resolve)))
    const { name, namespace, uid, resourceVersion } = member.metadata
    const annotations = { 'bench/claimed-at': new Date().toISOString(), 'bench/expires-at': new Date().toISOString() }
    const patch = mergePatch({ metadata: { uid, resourceVersion, annotations } })
    await this.#client.patch(ConfigMap, { name, namespace }, patch)
    this.#refill()
    return { id: name, preProvisioned: known !== undefined }
  }

  async release(name: string): Promise<void> {
    await this.#client.delete(ConfigMap, { name, namespace: this.#namespace }, { propagation: 'Background' })
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#watching
  }

  #refill(): void {
    this.#wanted++
    while (this.#wanted > 0 && this.#creating < CREATES_AT_ONCE) {
      this.#wanted--
      this.#creating++
      void this.#create().finally(() => {
        this.#creating--
        this.#wanted--
        this.#refill()
      })
    }
  }

  async #create(): Promise<void> {
    const name = `bare-${this.#count++}`
    const metadata = { name, namespace: this.#namespace }
    const { data = {} } = this.#like
    const owner = await this.#client.create(ConfigMap, { metadata, data })
    this.#pending.set(name, owner)
    const { uid } = owner.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }]
    const pod = { metadata: { ...metadata, ownerReferences }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
    await this.#client.create(Pod, pod)
  }

  async #watch(resourceVersion: string): Promise<void> {
    const { signal } = this.#ended
    try {
      for await (const events of this.#client.watch(Pod, { namespace: this.#namespace, resourceVersion, signal })) {
        for (const event of events) {
          if (event.type !== 'BOOKMARK' && isReady(event.object)) void this.#onReady(event.object.metadata.name)
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async #onReady(name: string): Promise<void> {
    const member = this.#pending.get(name)
    if (!this.#pending.delete(name) || !member) return
    const patch = mergePatch({ data: { claimStatus: 'ready', claimStatusMessage: 'all resources ready' } })
    const ready = await this.#client.patch(ConfigMap, { name, namespace: this.#namespace }, patch)
    const next = this.#waiting.shift()
    if (next) next(ready)
    else this.#ready.push(ready)
  }
}
