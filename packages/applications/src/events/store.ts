import type { EventEntry, EventFilter, EventRecord, Severity } from './entry.ts'
import { fits, severityOf } from './entry.ts'

/** An entry while it counts up. Times are wall time in milliseconds. */
interface Entry extends EventRecord {
  readonly id: string
  readonly severity: Severity
  readonly source: EventEntry['source']
  readonly first: number
  readonly last: number
  readonly count: number
  /** Tells the order of what happened in the same millisecond. */
  readonly sequence: number
}

/** An event of another process, as it is now. */
export interface ForeignEvent extends EventRecord {
  readonly id: string
  readonly source: EventEntry['source']
  readonly first: number
  readonly last: number
  readonly count: number
}

export interface EventStoreOptions {
  /** Entries kept; the oldest go. */
  readonly limit: number
  /** Milliseconds within which the same event counts up. */
  readonly window: number
  readonly source: EventEntry['source']
}

export interface Moment {
  /** Wall time, for the record. */
  readonly now: number
  /** For durations. */
  readonly monotonic: number
}

const LONGEST_MESSAGE = 1_024
const LONGEST_NAME = 253

/** Entries in memory, bounded: a tenth more than the limit at most, so that the oldest are looked for rarely. */
export class EventStore {
  readonly #options: EventStoreOptions
  readonly #entries = new Map<string, Entry>()
  /** By what makes two events the same: the last entry of that kind, and when, monotonically, it was added to. */
  readonly #recent = new Map<string, { readonly id: string; readonly seen: number }>()
  #newestFirst: readonly Entry[] | undefined
  #sequence = 0

  constructor(options: EventStoreOptions) {
    this.#options = options
  }

  get size(): number {
    return Math.min(this.#entries.size, this.#options.limit)
  }

  /** Adds one of our own, or counts up the one that says the same. `makeId` is called only for a new one. */
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
      count: (known?.count ?? 0) + 1,
    })
    // Anew, so that what was not added to for longest comes first.
    this.#recent.delete(key)
    this.#recent.set(key, { id, seen: monotonic })
    this.#forgetOld(monotonic)
  }

  /** Adds one of another process, or brings it up to date. */
  learn(event: ForeignEvent): void {
    const known = this.#entries.get(event.id)
    if (known && known.count >= event.count && known.last >= event.last) return
    this.#put({ ...event, ...shorten(event) })
  }

  /** Newest first. */
  list(filter: EventFilter = {}): readonly EventEntry[] {
    const { since = -Infinity, limit = Infinity } = filter
    const found: EventEntry[] = []
    for (const entry of this.#sorted()) {
      if (found.length >= limit || entry.last < since) break
      if (fits(entry, filter)) found.push(shown(entry))
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

/** What callers send may come from whoever calls them: no text is kept at any length. */
function shorten(record: EventRecord): EventRecord & { readonly severity: Severity } {
  const { involvedObject, metadata } = record
  return {
    type: record.type,
    severity: severityOf(record),
    reason: record.reason.slice(0, LONGEST_NAME),
    message:
      record.message.length > LONGEST_MESSAGE ? `${record.message.slice(0, LONGEST_MESSAGE - 1)}…` : record.message,
    involvedObject: {
      ...involvedObject,
      name: involvedObject.name.slice(0, LONGEST_NAME),
      ...(involvedObject.namespace !== undefined && { namespace: involvedObject.namespace.slice(0, LONGEST_NAME) }),
    },
    ...(metadata !== undefined && { metadata }),
  }
}

function shown(entry: Entry): EventEntry {
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
