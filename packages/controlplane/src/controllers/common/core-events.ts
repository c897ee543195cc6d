import {
  type Clock,
  isNotFound,
  type KubeApi,
  type KubeObject,
  mergePatch,
  type Random,
  type Stored,
} from '@tenure/kube'
import { CoreEvent } from '@tenure/kube/kinds'
import { rfc3339 } from '@tenure/runtime'

/** Says what happened to an object, for people. Never waits, never fails. */
export interface Events {
  record(object: Stored<KubeObject>, type: 'Normal' | 'Warning', reason: string, message: string): void
}

export interface CoreEventsOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** Who reports: `deployment-controller`. */
  readonly component: string
  /** Which host reports, where that matters: a node. Default none. */
  readonly host?: string
}

interface Entry {
  readonly key: string
  readonly name: string
  readonly object: Stored<KubeObject>
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly first: number
  last: number
  count: number
  written: number
  queued: boolean
}

const MOST_ENTRIES = 4_096
const MOST_WAITING = 4_096
const WRITES_AT_ONCE = 4
/** As client-go: this many about one object at once, then one more every five minutes. */
const BURST = 25
const REFILL = 300_000

interface Bucket {
  tokens: number
  at: number
}

/**
 * Events of the core group as the controllers of Kubernetes write them: one per object, reason and message, counted
 * up when it happens again. The runtime's own recorder writes events.k8s.io series, which tell messages of one reason
 * apart only by what they relate to; people who look for `Scaled up … from 1 to 2` need each of them.
 */
export class CoreEvents implements Events {
  readonly #options: CoreEventsOptions
  /** The most recent last. */
  readonly #entries = new Map<string, Entry>()
  readonly #buckets = new Map<string, Bucket>()
  readonly #waiting = new Set<Entry>()
  readonly #abort = new AbortController()
  #writing = 0

  constructor(options: CoreEventsOptions) {
    this.#options = options
  }

  get pending(): number {
    return this.#waiting.size + this.#writing
  }

  record(object: Stored<KubeObject>, type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (this.#abort.signal.aborted || !this.#mayWrite(object.metadata.uid)) return
    const { clock, random } = this.#options
    const key = `${object.metadata.uid} ${type} ${reason} ${message}`
    const now = clock.now()
    const known = this.#entries.get(key)
    const entry: Entry = known ?? {
      key,
      name: `${object.metadata.name}.${Buffer.from(random.bytes(8)).toString('hex')}`,
      object,
      type,
      reason,
      message: message.slice(0, 1_024),
      first: now,
      last: now,
      count: 0,
      written: 0,
      queued: false,
    }
    entry.count++
    entry.last = now
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    forgetOldest(this.#entries, MOST_ENTRIES)
    if (entry.queued || this.#waiting.size >= MOST_WAITING) return
    entry.queued = true
    this.#waiting.add(entry)
    this.#pump()
  }

  /** Takes no more; what waits is dropped. */
  close(): void {
    this.#abort.abort(new Error('the event recorder was closed'))
    this.#waiting.clear()
    this.#entries.clear()
  }

  #mayWrite(uid: string): boolean {
    const now = this.#options.clock.monotonic()
    const bucket = this.#buckets.get(uid) ?? { tokens: BURST, at: now }
    this.#buckets.delete(uid)
    this.#buckets.set(uid, bucket)
    forgetOldest(this.#buckets, MOST_ENTRIES)
    const refill = Math.floor((now - bucket.at) / REFILL)
    bucket.tokens = Math.min(bucket.tokens + refill, BURST)
    bucket.at += refill * REFILL
    if (bucket.tokens === 0) return false
    bucket.tokens--
    return true
  }

  #pump(): void {
    for (const entry of this.#waiting) {
      if (this.#writing >= WRITES_AT_ONCE) return
      this.#waiting.delete(entry)
      this.#writing++
      void this.#write(entry).finally(() => {
        this.#writing--
        this.#pump()
      })
    }
  }

  /** Never rejects: an event that can not be written is one less. */
  async #write(entry: Entry): Promise<void> {
    entry.queued = false
    const { count, last } = entry
    const namespace = entry.object.metadata.namespace ?? 'default'
    const { signal } = this.#abort
    const { api } = this.#options
    try {
      if (entry.written > 0) {
        const patch = mergePatch({ count, lastTimestamp: rfc3339(last) })
        await api.patch(CoreEvent, { name: entry.name, namespace }, patch, { signal })
      } else {
        await api.create(CoreEvent, this.#event(entry, namespace), { signal })
      }
      entry.written = count
    } catch (error) {
      if (isNotFound(error)) entry.written = 0
      this.#entries.delete(entry.key)
    }
  }

  #event(entry: Entry, namespace: string): CoreEvent {
    const { component, host } = this.#options
    const { apiVersion, kind, metadata } = entry.object
    return {
      metadata: { name: entry.name, namespace },
      involvedObject: {
        apiVersion,
        kind,
        ...(metadata.namespace && { namespace: metadata.namespace }),
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
      reason: entry.reason,
      message: entry.message,
      source: { component, ...(host && { host }) },
      firstTimestamp: rfc3339(entry.first),
      lastTimestamp: rfc3339(entry.last),
      count: entry.count,
      type: entry.type,
      reportingComponent: component,
      reportingInstance: host ?? '',
    }
  }
}

function forgetOldest(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
