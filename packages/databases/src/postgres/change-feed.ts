import { asError, type Clock, fateOf, type Random, type Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { ResourceRow } from '../api/rows.ts'
import type { ChangeCursor, Snapshot } from './change-cursor.ts'
import type { Database } from './database.ts'
import { ChangeListener } from './listener.ts'
import { MAX_POLLING_AHEAD_MS } from './migrations/triggers.ts'
import type { ResourceRead, ResourceStore } from './resource-store.ts'

/** Without notifications, changes are read at this interval. */
const DEAF_INTERVAL_MS = 1_000
/** Two notifications within this time are a burst: the feed polls, and writers need not notify. */
const BURST_WINDOW_MS = 50
const BURST_INTERVAL_MS = 20
/** Each announcement spares the writers notifications for this long; a burst ends when nothing changed for so long. */
const ANNOUNCEMENT_MS = 200
/** After a failed read. */
const RETRY_MS = 1_000

export interface ChangeFeedOptions {
  readonly database: Database
  readonly store: ResourceStore
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** All rows: on every connect and after `requestFullRead`. */
  readonly onSnapshot: (rows: readonly ResourceRow[]) => void
  /** Rows whose desired state changed. */
  readonly onChange: (rows: readonly ResourceRow[]) => void
}

/**
 * Delivers all rows once connected, then the changes, a few milliseconds after their commit. It has three gaits:
 * - asleep: a notification wakes it;
 * - polling: during a burst of changes, announced to the writers, and when notifications do not arrive;
 * - draining: after a burst, until the transactions that saw the announcement have ended, because they do not notify.
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions
  readonly #listener: ChangeListener
  #cursor: ChangeCursor | undefined
  #isStopped = true
  /** While it prepares the store and reads all rows, nothing else is read. */
  #connecting: Promise<void> | undefined
  /** Reads never overlap: a request during a read is carried out after it. */
  #reading: Promise<void> | undefined
  #isWanted = false
  #isFullWanted = false
  #timer: Timer | undefined
  #lastNotification = Number.NEGATIVE_INFINITY
  #lastChange = Number.NEGATIVE_INFINITY
  #isBurst = false
  /** Transactions below this id may have changed rows without notifying; undefined: unknown yet. */
  #drainTo: bigint | 'next snapshot' | undefined
  #drainInterval = BURST_INTERVAL_MS

  constructor(options: ChangeFeedOptions) {
    this.#options = options
    const { clock, database, log, random } = options
    this.#listener = new ChangeListener({
      database,
      clock,
      random,
      log,
      onConnect: () => {
        this.#connecting = this.#connect().finally(() => (this.#connecting = undefined))
        return this.#connecting
      },
      onNotification: () => this.#notified(),
      onListeningChange: () => this.#request(),
    })
  }

  /** False while changes are found by polling. */
  get isListening(): boolean {
    return this.#listener.isListening
  }

  /** True once all rows were delivered. */
  get hasRead(): boolean {
    return this.#cursor !== undefined
  }

  start(): void {
    this.#isStopped = false
    this.#listener.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#listener.stop()
    await this.#connecting?.catch(() => undefined)
    await this.#reading
  }

  /** Reads all rows soon: the safety net. Does nothing before the first connect, which reads them anyway. */
  requestFullRead(): void {
    if (this.#cursor === undefined) return
    this.#isFullWanted = true
    this.#request()
  }

  /** The server may be another one than before: its tables, its rows and its transaction ids. */
  async #connect(): Promise<void> {
    this.#timer?.cancel()
    await this.#reading
    this.#cursor = undefined
    this.#isBurst = false
    this.#drainTo = 'next snapshot'
    await this.#options.store.prepare()
    this.#isFullWanted = true
    await this.#read()
    this.#connecting = undefined
    this.#request()
  }

  #notified(): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#lastNotification < BURST_WINDOW_MS) {
      this.#isBurst = true
      this.#lastChange = now
    }
    this.#lastNotification = now
    this.#request()
  }

  #request(): void {
    if (this.#isStopped || this.#connecting !== undefined || this.#cursor === undefined) return
    this.#isWanted = true
    this.#reading ??= this.#readWhileWanted().finally(() => {
      this.#reading = undefined
      if (this.#isWanted) this.#request()
    })
  }

  async #readWhileWanted(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false
      this.#timer?.cancel()
      try {
        if (this.#isBurst) await this.#options.store.announcePolling(ANNOUNCEMENT_MS)
        this.#schedule(this.#nextInterval(await this.#read()))
      } catch (error) {
        const { log } = this.#options
        // A lost connection is reported by the database, and its return by the listener.
        if (fateOf(error) === 'retry') log.debug('reading changes failed', { error: asError(error) })
        else log.error('reading changes failed', { error: asError(error) })
        this.#schedule(RETRY_MS)
      }
    }
  }

  async #read(): Promise<Snapshot> {
    const { clock, onChange, onSnapshot, store } = this.#options
    const cursor = this.#isFullWanted ? undefined : this.#cursor
    this.#isFullWanted = false
    let read: ResourceRead
    try {
      read = cursor === undefined ? await store.readAll() : await store.readChanged(cursor)
    } catch (error) {
      this.#isFullWanted ||= cursor === undefined
      throw error
    }
    this.#cursor = read.cursor
    if (cursor === undefined) onSnapshot(read.rows)
    else if (read.rows.length > 0) {
      this.#lastChange = clock.monotonic()
      onChange(read.rows)
    }
    return read.snapshot
  }

  /** Milliseconds to the next read; undefined: a notification will come. */
  #nextInterval(snapshot: Snapshot): number | undefined {
    const deaf = this.isListening ? undefined : DEAF_INTERVAL_MS
    if (this.#isBurst && this.#options.clock.monotonic() - this.#lastChange > ANNOUNCEMENT_MS) this.#isBurst = false
    const ahead = snapshot.pollingUntil - snapshot.time
    if (this.#isBurst || (ahead > 0 && ahead <= MAX_POLLING_AHEAD_MS)) {
      this.#drainTo = 'next snapshot'
      this.#drainInterval = BURST_INTERVAL_MS
      return BURST_INTERVAL_MS
    }
    if (this.#drainTo === 'next snapshot') this.#drainTo = BigInt(snapshot.xmax)
    if (this.#drainTo !== undefined && BigInt(snapshot.xmin) < this.#drainTo) {
      this.#drainInterval = Math.min(this.#drainInterval * 2, DEAF_INTERVAL_MS)
      return this.#drainInterval
    }
    this.#drainTo = undefined
    return deaf
  }

  #schedule(interval: number | undefined): void {
    this.#timer?.cancel()
    if (interval === undefined || this.#isStopped) return
    this.#timer = this.#options.clock.setTimer(interval, () => this.#request())
  }
}
