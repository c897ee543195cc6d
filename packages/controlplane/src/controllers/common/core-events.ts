import {
  type Clock,
  isNotFound,
  type KubeApi,
  type KubeObject,
  mergePatch,
  type Random,
  type Stored,
  TokenBuckets,
} from '@tenure/kube'
import { CoreEvent } from '@tenure/kube/kinds'
import { rfc3339 } from '@tenure/runtime'
import { LRUCache } from 'lru-cache'

/** Records Events about objects. Never waits and never fails. */
export interface ObjectEvents {
  record(object: Stored<KubeObject>, type: 'Normal' | 'Warning', reason: string, message: string): void
}

export interface CoreEventRecorderOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** Reporting component, for example `deployment-controller`. */
  readonly component: string
  /** Reporting node. Default: none. */
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

/** Maximum number of remembered Events. */
const MAX_ENTRIES = 4_096
const MAX_PENDING_WRITES = 4_096
const MAX_CONCURRENT_WRITES = 4
/** Maximum burst of Events per object, as in client-go; one more is permitted per refill interval. */
const MAX_BURST_EVENTS = 25
const REFILL_INTERVAL_MS = 300_000

interface EventCaches {
  readonly entries: LRUCache<string, Entry>
  readonly limiter: TokenBuckets
}

function newCaches(clock: Clock): EventCaches {
  return {
    entries: new LRUCache({ max: MAX_ENTRIES }),
    limiter: new TokenBuckets({ clock, burst: MAX_BURST_EVENTS, refillMs: REFILL_INTERVAL_MS, maxKeys: MAX_ENTRIES }),
  }
}

/**
 * Writes core/v1 Events as kube-controller-manager does: one per object, reason and message, with a count. The runtime's
 * recorder writes events.k8s.io series, which merge different messages of one reason; `Scaled up … from 1 to 2` needs an
 * Event for each message.
 */
export class CoreEventRecorder implements ObjectEvents {
  readonly #options: CoreEventRecorderOptions
  /** Created with the first Event: the caches reserve their memory, and most components rarely record one. */
  #caches: EventCaches | undefined
  readonly #waiting = new Set<Entry>()
  readonly #abort = new AbortController()
  #writing = 0

  constructor(options: CoreEventRecorderOptions) {
    this.#options = options
  }

  get pending(): number {
    return this.#waiting.size + this.#writing
  }

  record(object: Stored<KubeObject>, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { clock, random } = this.#options
    const { entries, limiter } = (this.#caches ??= newCaches(clock))
    if (this.#abort.signal.aborted || !limiter.take(object.metadata.uid)) return
    const key = `${object.metadata.uid} ${type} ${reason} ${message}`
    const now = clock.now()
    const known = entries.get(key)
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
    entries.set(key, entry)
    if (entry.queued || this.#waiting.size >= MAX_PENDING_WRITES) return
    entry.queued = true
    this.#waiting.add(entry)
    this.#pump()
  }

  /** Drops pending Events and ignores later ones. */
  close(): void {
    this.#abort.abort(new Error('The event recorder is closed'))
    this.#waiting.clear()
    this.#caches?.entries.clear()
  }

  #pump(): void {
    for (const entry of this.#waiting) {
      if (this.#writing >= MAX_CONCURRENT_WRITES) return
      this.#waiting.delete(entry)
      this.#writing++
      void this.#write(entry).finally(() => {
        this.#writing--
        this.#pump()
      })
    }
  }

  /** Never rejects: an Event that fails to be written is dropped. */
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
      this.#caches?.entries.delete(entry.key)
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
