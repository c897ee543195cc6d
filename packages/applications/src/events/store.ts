import type { EventEntry, EventFilter, EventRecord, Severity } from './entry.ts'
import { matches, severityOf } from './entry.ts'

/** Times are wall time in milliseconds. */
interface Entry extends EventRecord {
  readonly id: string
  readonly severity: Severity
  readonly source: EventEntry['source']
  readonly first: number
  readonly last: number
  readonly count: number
  /** Orders entries of the same millisecond. */
  readonly sequence: number
}

/** An event of another process, or of this one before a restart. */
export interface RemoteEvent extends EventRecord {
  readonly id: string
  readonly source: EventEntry['source']
  readonly first: number
  readonly last: number
  readonly count: number
}

/** State of a remote event that an entry includes. */
interface RemotePart {
  /** Id of the entry. */
  readonly entry: string
  readonly count: number
  readonly last: number
}

export interface EventStoreOptions {
  /** Maximum number of entries; the oldest are dropped first. */
  readonly limit: number
  /** Milliseconds within which a repeated event increases the count. */
  readonly window: number
  readonly source: EventEntry['source']
}

export interface Moment {
  /** Wall time. */
  readonly now: number
  /** For durations. */
  readonly monotonic: number
}

const MAX_MESSAGE_LENGTH = 1_024
const MAX_NAME_LENGTH = 253

/** Bounded in-memory store. It holds up to 10 % more than the limit, so that the oldest entries are dropped in batches. */
export class EventStore {
  readonly #options: EventStoreOptions
  readonly #entries = new Map<string, Entry>()
  /** By aggregation key: the latest entry, and the monotonic time of its last increment. */
  readonly #recent = new Map<string, { readonly id: string; readonly seen: number }>()
  /** By the id of the remote event. */
  readonly #remoteParts = new Map<string, RemotePart>()
  /** By aggregation key: id of the latest entry of remote events. */
  readonly #recentRemote = new Map<string, string>()
  #newestFirst: readonly Entry[] | undefined
  #sequence = 0

  constructor(options: EventStoreOptions) {
    this.#options = options
  }

  get size(): number {
    return Math.min(this.#entries.size, this.#options.limit)
  }

  /** Adds an event of this process, or increases the count of an equal one. `makeId` is called for a new entry only. */
  record(record: EventRecord, { now, monotonic }: Moment, makeId: () => string): void {
    const shortened = shorten(record)
    const key = keyOf(shortened)
    const recent = this.#recent.get(key)
    const known = recent && monotonic - recent.seen < this.#options.window ? this.#entries.get(recent.id) : undefined
    const id = known?.id ?? makeId()
    this.#put({
      ...shortened,
      id,
      source: this.#options.source,
      first: known?.first ?? now,
      last: now,
      count: (known?.count ?? 0) + (record.count ?? 1),
    })
    // Delete and set moves the key to the end: the map stays in order of the last increment.
    this.#recent.delete(key)
    this.#recent.set(key, { id, seen: monotonic })
    this.#forgetOld(monotonic)
  }

  /** Adds or updates an event that was read from Kubernetes, which has one for each message. */
  merge(event: RemoteEvent): void {
    const { id, count, first, last } = event
    const part = this.#remoteParts.get(id)
    if (part && part.count >= count && part.last >= last) return
    const key = JSON.stringify([keyOf(event), event.source])
    const entry = this.#entries.get(part?.entry ?? '') ?? this.#neighbour(key, event)
    this.#remoteParts.set(id, { entry: entry?.id ?? id, count, last })
    this.#recentRemote.set(key, entry?.id ?? id)
    this.#put({
      ...(entry && entry.last > last ? entry : { ...event, ...shorten(event) }),
      id: entry?.id ?? id,
      first: Math.min(first, entry?.first ?? first),
      last: Math.max(last, entry?.last ?? last),
      count: (entry?.count ?? 0) + count - (entry ? (part?.count ?? 0) : 0),
    })
  }

  /** Entry of remote events that began or ended within the window of this one. */
  #neighbour(key: string, { first, last }: RemoteEvent): Entry | undefined {
    const entry = this.#entries.get(this.#recentRemote.get(key) ?? '')
    const { window } = this.#options
    return entry && first - entry.last < window && entry.first - last < window ? entry : undefined
  }

  /** Newest first. */
  list(filter: EventFilter = {}): readonly EventEntry[] {
    const { since = -Infinity, limit = Infinity } = filter
    const found: EventEntry[] = []
    for (const entry of this.#sorted()) {
      if (found.length >= limit || entry.last < since) break
      if (matches(entry, filter)) found.push(toEntry(entry))
    }
    return found
  }

  #put(entry: Omit<Entry, 'sequence'>): void {
    this.#entries.set(entry.id, { ...entry, sequence: ++this.#sequence })
    this.#newestFirst = undefined
    const { limit } = this.#options
    if (this.#entries.size <= limit + Math.ceil(limit / 10)) return
    const kept = this.#sorted()
    this.#entries.clear()
    for (const each of kept) this.#entries.set(each.id, each)
    for (const [id, { entry }] of this.#remoteParts) if (!this.#entries.has(entry)) this.#remoteParts.delete(id)
    for (const [key, entry] of this.#recentRemote) if (!this.#entries.has(entry)) this.#recentRemote.delete(key)
  }

  #sorted(): readonly Entry[] {
    this.#newestFirst ??= [...this.#entries.values()]
      .toSorted((a, b) => b.last - a.last || b.sequence - a.sequence)
      .slice(0, this.#options.limit)
    return this.#newestFirst
  }

  #forgetOld(monotonic: number): void {
    const { limit, window } = this.#options
    for (const [key, { seen }] of this.#recent) {
      if (monotonic - seen < window && this.#recent.size <= limit) return
      this.#recent.delete(key)
    }
  }
}

function keyOf({ type, reason, involvedObject: { kind, namespace, name } }: EventRecord): string {
  return JSON.stringify([namespace, name, kind, reason, type])
}

/** Messages may contain input of HTTP callers, so that every text is bounded. */
function shorten(record: EventRecord): Omit<EventRecord, 'count'> & { readonly severity: Severity } {
  const { involvedObject, metadata } = record
  return {
    type: record.type,
    severity: severityOf(record),
    reason: record.reason.slice(0, MAX_NAME_LENGTH),
    message:
      record.message.length > MAX_MESSAGE_LENGTH
        ? `${record.message.slice(0, MAX_MESSAGE_LENGTH - 1)}…`
        : record.message,
    involvedObject: {
      ...involvedObject,
      name: involvedObject.name.slice(0, MAX_NAME_LENGTH),
      ...(involvedObject.namespace !== undefined && { namespace: involvedObject.namespace.slice(0, MAX_NAME_LENGTH) }),
    },
    ...(metadata !== undefined && { metadata }),
  }
}

function toEntry(entry: Entry): EventEntry {
  const { id, type, severity, reason, message, involvedObject, source, first, last, count, metadata } = entry
  return {
    id,
    type,
    severity,
    reason,
    message,
    involvedObject,
    source,
    firstTimestamp: new Date(first).toISOString(),
    lastTimestamp: new Date(last).toISOString(),
    count,
    ...(metadata !== undefined && { metadata }),
  }
}
