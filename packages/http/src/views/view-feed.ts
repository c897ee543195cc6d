import type { Clock, Random, Timer } from '@tenure/kube'
import type { Metrics } from '@tenure/runtime'
import type { HttpResponse } from '../routes/response.ts'
import { SseHub } from '../sse/hub.ts'
import { type RowScope, scopeOf } from './visibility.ts'
import type { View } from './view.ts'

/** Milliseconds between two readings of changed rows: a row that changes all the time is sent this often. */
const PUBLISH_INTERVAL_MS = 100
/** Milliseconds for which changes are followed after the last reader left, so that it can resume. */
const LINGER_MS = 60_000

/** A change, for filters. Undefined: the first event of a feed, which is for no reader. */
export type RowChange = { readonly view: string; readonly scope: RowScope } | undefined

export interface ViewFeedOptions {
  readonly views: readonly View[]
  readonly clock: Clock
  readonly random: Random
  readonly metrics?: Metrics
}

/** Rows as readers know them: which rows exist, and who may see them. */
type KnownRows = Map<string, RowScope>

interface ActiveFeed {
  readonly hub: SseHub<RowChange>
  /** Different for each time that changes are followed: ids of an earlier time are not known any more. */
  readonly epoch: string
  readonly known: ReadonlyMap<string, KnownRows>
  readonly dirty: Map<View, Set<string>>
  readonly unsubscribe: () => void
}

export interface OpenFeed {
  /** The views of the reader. */
  readonly views: ReadonlySet<string>
  /** Equal for readers that see the same. */
  readonly key: string
  sees(view: string, scope: RowScope): boolean
  readonly lastEventId: string | undefined
  readonly signal: AbortSignal
}

/**
 * One stream with the changes of all views. It follows them only while somebody reads. A change is a row as it is when it is
 * sent, so readers may miss versions of it, and never the last one.
 */
export class ViewFeed {
  readonly #options: ViewFeedOptions
  #active: ActiveFeed | undefined
  #sequence = 0
  #lastPublished = -Infinity
  #publishing: Timer | undefined
  #lingering: Timer | undefined

  constructor(options: ViewFeedOptions) {
    this.#options = options
  }

  /** The id from which a stream continues after a list that is read in the same turn. */
  cursor(): string {
    const { epoch } = this.#follow()
    return `${epoch}-${this.#sequence}`
  }

  async open({ key, lastEventId, sees, signal, views }: OpenFeed): Promise<HttpResponse> {
    const { hub } = this.#follow()
    const filter = {
      key: JSON.stringify([[...views].toSorted(), key]),
      matches: (about: RowChange) => about !== undefined && views.has(about.view) && sees(about.view, about.scope),
    }
    return hub.open({ filter, lastEventId, signal })
  }

  stop(): void {
    this.#lingering?.cancel()
    this.#publishing?.cancel()
    this.#publishing = undefined
    this.#active?.unsubscribe()
    this.#active = undefined
  }

  #follow(): ActiveFeed {
    this.#lingering?.cancel()
    this.#lingering = this.#options.clock.setTimer(LINGER_MS, () => this.#endIfUnread())
    return (this.#active ??= this.#begin())
  }

  #endIfUnread(): void {
    if (this.#active && this.#active.hub.readers > 0) this.#follow()
    else this.stop()
  }

  #begin(): ActiveFeed {
    const { clock, metrics, random, views } = this.#options
    const epoch = Buffer.from(random.bytes(6)).toString('hex')
    const hub = new SseHub<RowChange>({ clock, name: 'views', ...(metrics && { metrics }) })
    const dirty = new Map<View, Set<string>>()
    const known = new Map<string, KnownRows>()
    const ends = views.map((view) => {
      const rows: KnownRows = new Map()
      for (const row of view.rows()) rows.set(row.id, scopeOf(view, row))
      known.set(view.name, rows)
      const ids = new Set<string>()
      dirty.set(view, ids)
      return view.subscribe((id) => {
        ids.add(id)
        this.#publishSoon()
      })
    })
    this.#sequence = 0
    // A list before the first change continues from here.
    hub.publish({ id: `${epoch}-0`, data: {}, about: undefined })
    return { hub, epoch, known, dirty, unsubscribe: () => ends.forEach((end) => end()) }
  }

  #publishSoon(): void {
    const { clock } = this.#options
    const wait = Math.max(0, this.#lastPublished + PUBLISH_INTERVAL_MS - clock.monotonic())
    this.#publishing ??= clock.setTimer(wait, () => this.#publish())
  }

  #publish(): void {
    this.#publishing = undefined
    this.#lastPublished = this.#options.clock.monotonic()
    if (!this.#active) return
    const { dirty, epoch, hub, known } = this.#active
    for (const [view, ids] of dirty) {
      const rows = known.get(view.name)
      for (const id of ids) {
        const row = view.row(id)
        const scope = row ? scopeOf(view, row) : rows?.get(id)
        // A row that came and went between two readings was never sent.
        if (!scope) continue
        if (row) rows?.set(id, scope)
        else rows?.delete(id)
        const data = row ? { view: view.name, type: 'set', row } : { view: view.name, type: 'delete', id }
        hub.publish({ id: `${epoch}-${++this.#sequence}`, data, about: { view: view.name, scope } })
      }
      ids.clear()
    }
  }
}
