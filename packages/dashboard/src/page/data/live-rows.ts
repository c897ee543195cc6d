import type { PageClock } from '../browser.ts'
import { type DashboardApi, messageOf, queryOf, RequestFailure } from './api.ts'
import { EventStreamParser } from './event-stream.ts'
import type { PageRow, PageView, StreamChange, RowOf, ListPage } from './rows.ts'
import { LiveTable } from './live-table.ts'

export type LiveConnection = 'connecting' | 'live' | 'reconnecting' | 'stopped'

export interface LiveRowsOptions {
  readonly api: Pick<DashboardApi, 'json' | 'stream'>
  readonly clock: PageClock
}

/** The first page is small, so that rows are seen at once. */
const FIRST_PAGE_ROWS = 500
const NEXT_PAGE_ROWS = 5_000
const MIN_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 5_000
/** The server sends a heartbeat every 15 s: a stream that is silent for longer than two of them is dead. */
const MAX_SILENCE_MS = 40_000

/** The order of the first page, where it differs from the server's: the page shows what ends soonest. */
const LIST_SORT: Partial<Readonly<Record<PageView, string>>> = { claims: 'expiresAt', leases: 'expiresAt' }

/** Reason of an abort that only lets the loop look at the wanted views again. */
const WANTED_CHANGED = new Error('other views are wanted')
const STREAM_ENDED = new RequestFailure(0, 'The server closed the stream.')

/**
 * Keeps the rows of the wanted views current: lists each view once, then follows one stream for all of them. Rows stay
 * while the server is away, and are listed again when it does not know the position in the stream any more.
 */
export class LiveRows {
  readonly #api: Pick<DashboardApi, 'json' | 'stream'>
  readonly #clock: PageClock
  readonly #tables = new Map<PageView, LiveTable<PageRow>>()
  readonly #wanted = new Set<PageView>()
  /** Views whose list has begun and whose changes come from the stream. */
  readonly #listed = new Set<PageView>()
  /** Views that this user or this server does not have. They are asked for again by `restart`. */
  readonly #refused = new Set<PageView>()
  #offered: ReadonlySet<string> | undefined
  readonly #changed = new Set<LiveTable<PageRow>>()
  readonly #listeners = new Set<() => void>()
  #cursor: string | undefined
  #connection: LiveConnection = 'connecting'
  #problem = ''
  #session: AbortController | undefined
  /** One pass of the loop; aborted to make the loop begin the next one. */
  #round: AbortController | undefined
  /** Pages after the first, which are read beside the stream. */
  #pages = new AbortController()

  constructor({ api, clock }: LiveRowsOptions) {
    this.#api = api
    this.#clock = clock
  }

  get connection(): LiveConnection {
    return this.#connection
  }

  /** Why the connection is lost. */
  get problem(): string {
    return this.#problem
  }

  table<V extends PageView>(view: V): LiveTable<RowOf<V>> {
    let table = this.#tables.get(view)
    if (!table) {
      table = new LiveTable<PageRow>()
      this.#tables.set(view, table)
    }
    // A table holds only rows of its view.
    return table as unknown as LiveTable<RowOf<V>>
  }

  /** The views that the server has, so that it is not asked for others. Default: all. */
  offer(views: readonly string[]): void {
    this.#offered = new Set(views)
  }

  /** A wanted view stays loaded. */
  want(views: readonly PageView[]): void {
    const unknown = views.filter((view) => this.#offered?.has(view) === false)
    for (const table of unknown.map((view) => this.#tableOf(view))) {
      if (table.state.status === 'absent') continue
      table.setState({ status: 'absent' })
      this.#touch(table)
    }
    const added = views.filter((view) => !unknown.includes(view) && !this.#wanted.has(view))
    if (added.length === 0) return
    for (const view of added) this.#wanted.add(view)
    this.#round?.abort(WANTED_CHANGED)
  }

  start(): void {
    if (this.#session) return
    const session = new AbortController()
    this.#session = session
    this.#setConnection('connecting')
    void this.#run(session.signal)
  }

  stop(): void {
    this.#session?.abort()
    this.#session = undefined
    this.#forget()
    this.#setConnection('stopped')
  }

  /** Begins again without rows, for another user. */
  restart(): void {
    this.stop()
    this.#refused.clear()
    for (const [view, table] of this.#tables) {
      if (this.#offered?.has(view) === false) continue
      table.clear()
      this.#touch(table)
    }
    this.start()
  }

  /** Calls `listener` when the connection changes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async #run(session: AbortSignal): Promise<void> {
    let failures = 0
    while (!session.aborted) {
      const round = new AbortController()
      this.#round = round
      const signal = AbortSignal.any([session, round.signal])
      try {
        await this.#listMissing(signal)
        await this.#follow(signal, round, () => {
          failures = 0
        })
      } catch (caught) {
        if (session.aborted) return
        if (round.signal.reason === WANTED_CHANGED) continue
        const error: unknown = round.signal.aborted ? round.signal.reason : caught
        if (error instanceof RequestFailure && error.status === 410) this.#forget()
        // A server that ends a stream in order wants the reader to come back: that is not an outage yet.
        if (error !== STREAM_ENDED) {
          this.#problem = messageOf(error)
          this.#setConnection('reconnecting')
        }
        await this.#pause(Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures), session)
        failures++
      } finally {
        round.abort(WANTED_CHANGED)
      }
    }
  }

  /** Lists the wanted views that are not listed yet. Rejects if the server cannot be reached. */
  async #listMissing(signal: AbortSignal): Promise<void> {
    const missing = [...this.#wanted].filter((view) => !this.#listed.has(view) && !this.#refused.has(view))
    const [first, ...others] = missing
    if (first === undefined) return
    // The position in the stream must not be later than any list. So one list is read alone if there is none yet.
    if (this.#cursor === undefined) await this.#listView(first, signal)
    else others.push(first)
    await Promise.all(others.map((view) => this.#listView(view, signal)))
  }

  async #listView(view: PageView, signal: AbortSignal): Promise<void> {
    const table: LiveTable<PageRow> = this.#tableOf(view)
    try {
      table.beginList()
      const page = await this.#page(view, { limit: FIRST_PAGE_ROWS }, signal)
      this.#cursor ??= page.cursor
      this.#listed.add(view)
      table.addPage(page.items)
      if (page.continue === undefined) this.#complete(table)
      else {
        table.setState({ status: 'ready', isComplete: false, total: page.total })
        void this.#listRest(view, page, AbortSignal.any([this.#pages.signal]))
      }
    } catch (error) {
      if (signal.aborted) throw error
      const { status, message } = error instanceof RequestFailure ? error : { status: 0, message: messageOf(error) }
      if (status === 403 || status === 404) {
        this.#refused.add(view)
        table.clear()
        table.setState(status === 403 ? { status: 'forbidden', message } : { status: 'absent' })
      } else if (status === 0 || status === 401) {
        if (table.size === 0 && status === 0) table.setState({ status: 'failed', message })
        throw error
      } else {
        // The other views work, so they go on; this one is tried again later.
        if (table.size === 0) table.setState({ status: 'failed', message })
        this.#clock.setTimer(MAX_BACKOFF_MS, () => this.#round?.abort(WANTED_CHANGED))
      }
    } finally {
      this.#touch(table)
    }
  }

  async #listRest(view: PageView, first: ListPage<PageRow>, signal: AbortSignal): Promise<void> {
    const table = this.#tableOf(view)
    try {
      let page = first
      while (page.continue !== undefined) {
        page = await this.#page(view, { limit: NEXT_PAGE_ROWS, continue: page.continue }, signal)
        if (signal.aborted) return
        table.addPage(page.items)
        this.#touch(table)
      }
      this.#complete(table)
      this.#touch(table)
    } catch (error) {
      if (signal.aborted) return
      // The list begins again, after the backoff of the loop.
      this.#listed.delete(view)
      this.#round?.abort(error)
    }
  }

  #complete(table: LiveTable<PageRow>): void {
    table.endList()
    table.setState({ status: 'ready', isComplete: true, total: table.size })
  }

  #page(
    view: PageView,
    query: Readonly<Record<string, string | number>>,
    signal: AbortSignal,
  ): Promise<ListPage<PageRow>> {
    const sort = LIST_SORT[view]
    return this.#api.json(`./api/v1/views/${view}${queryOf({ ...query, ...(sort && { sort, order: 'asc' }) })}`, {
      signal,
    })
  }

  /** Reads the stream until it breaks, so it always rejects. */
  async #follow(signal: AbortSignal, round: AbortController, onOpen: () => void): Promise<void> {
    if (this.#listed.size === 0) {
      this.#setConnection('live')
      await new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        if (signal.aborted) reject(signal.reason as Error)
      })
    }
    const headers = this.#cursor === undefined ? {} : { 'last-event-id': this.#cursor }
    const views = [...this.#listed].join(',')
    const body = await this.#api.stream(`./api/v1/stream?views=${views}`, { headers, signal })
    onOpen()
    this.#setConnection('live')
    const parser = new EventStreamParser()
    const reader = body.getReader()
    let lastByte = this.#clock.now()
    const watch = (): void => {
      if (signal.aborted) return
      const left = lastByte + MAX_SILENCE_MS - this.#clock.now()
      if (left <= 0) round.abort(new RequestFailure(0, 'The stream is silent.'))
      else timer = this.#clock.setTimer(left, watch)
    }
    let timer = this.#clock.setTimer(MAX_SILENCE_MS, watch)
    try {
      for (;;) {
        const { done, value } = await reader.read()
        // A chunk that arrives after an abort belongs to a round that is over.
        if (signal.aborted) throw signal.reason
        if (done) throw STREAM_ENDED
        lastByte = this.#clock.now()
        for (const event of parser.push(value)) {
          this.#apply(JSON.parse(event.data) as StreamChange)
          this.#cursor = event.id ?? this.#cursor
        }
      }
    } catch (error) {
      if (error instanceof RequestFailure || signal.aborted) throw error
      throw new RequestFailure(0, 'The connection to the server broke.', [], error)
    } finally {
      timer.cancel()
      reader.cancel().catch(() => undefined)
    }
  }

  #apply(change: StreamChange): void {
    const table = this.#tables.get(change.view as PageView)
    if (!table) return
    if (change.type === 'set') table.set(change.row)
    else table.delete(change.id)
    this.#touch(table)
  }

  /** Lists everything again in the next round. What is shown stays. */
  #forget(): void {
    this.#pages.abort()
    this.#pages = new AbortController()
    this.#listed.clear()
    this.#cursor = undefined
  }

  #tableOf(view: PageView): LiveTable<PageRow> {
    return this.table(view)
  }

  /** Tells the readers of the table in the next frame: many changes are drawn once. */
  #touch(table: LiveTable<PageRow>): void {
    this.#changed.add(table)
    if (this.#changed.size > 1) return
    this.#clock.nextFrame(() => {
      const changed = [...this.#changed]
      this.#changed.clear()
      for (const each of changed) each.notify()
    })
  }

  #setConnection(connection: LiveConnection): void {
    if (connection === this.#connection) return
    this.#connection = connection
    for (const listener of this.#listeners) listener()
  }

  #pause(delay: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(delay, resolve)
      signal.addEventListener(
        'abort',
        () => {
          timer.cancel()
          resolve()
        },
        { once: true },
      )
    })
  }
}
