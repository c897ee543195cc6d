import { type Clock, jitter, type Random, sleep, type Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { Database, SqlSession } from './database.ts'
import { CHANGE_CHANNEL } from './migrations/triggers.ts'

/** On this channel the listener sends itself a word that only it knows. */
const SELF_TEST_CHANNEL = 'tenure_listener'
const SELF_TEST_TIMEOUT_MS = 1_000
/** The time between self-tests, which also find a connection that died silently. */
const HEARTBEAT_INTERVAL_MS = 15_000
const NONCE_BYTES = 12
const MIN_RECONNECT_MS = 100
const MAX_RECONNECT_MS = 10_000
const RECONNECT_JITTER = 0.2

export interface ChangeListenerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Called on every connect, after LISTEN: changes before it are found by reading, later ones are notified. */
  readonly onConnect: () => Promise<void>
  readonly onNotification: () => void
  /** Called when `isListening` changes. */
  readonly onListeningChange: () => void
}

/**
 * Listens for changes on a connection of its own, for as long as it runs. It notifies itself to find out whether
 * notifications arrive at all: a pooler in transaction mode accepts LISTEN and drops them silently.
 */
export class ChangeListener {
  readonly #options: ChangeListenerOptions
  #isListening = false
  #hasWarned = false
  #stopping = new AbortController()
  #run: Promise<void> | undefined

  constructor(options: ChangeListenerOptions) {
    this.#options = options
  }

  /** True if notifications arrive. */
  get isListening(): boolean {
    return this.#isListening
  }

  start(): void {
    this.#stopping = new AbortController()
    this.#run = this.#runUntilStopped(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#run
  }

  async #runUntilStopped(signal: AbortSignal): Promise<void> {
    const { clock, database, log, random } = this.#options
    let delay = 0
    while (!signal.aborted) {
      const begun = clock.monotonic()
      try {
        await database.whenUp(signal)
        await this.#listen(signal)
      } catch (error) {
        if (signal.aborted) break
        log.debug('listening for changes failed, reconnecting', { error })
      }
      this.#setListening(false)
      // A connection that lived for a while may be replaced at once.
      const livedLong = clock.monotonic() - begun > MAX_RECONNECT_MS
      delay = livedLong ? MIN_RECONNECT_MS : Math.min(Math.max(delay * 2, MIN_RECONNECT_MS), MAX_RECONNECT_MS)
      await sleep(clock, jitter(random, delay, RECONNECT_JITTER), signal).catch(() => undefined)
    }
    this.#setListening(false)
  }

  /** Returns or rejects when the connection ends. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { database, onConnect } = this.#options
    const ended = Promise.withResolvers<never>()
    // It may end while no one waits for it yet.
    ended.promise.catch(() => undefined)
    const heard = new HeardNonces()
    const session = await database.openSession({
      notification: (channel, payload) => {
        if (channel === SELF_TEST_CHANNEL) heard.add(payload)
        else this.#options.onNotification()
      },
      end: (error) => ended.reject(error),
    })
    const onAbort = (): void => ended.reject(new Error('Stopped'))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await Promise.race([session.query(`LISTEN ${CHANGE_CHANNEL}; LISTEN ${SELF_TEST_CHANNEL}`), ended.promise])
      await Promise.race([Promise.all([onConnect(), this.#selfTest(session, heard)]), ended.promise])
      for (;;) {
        await Promise.race([sleep(this.#options.clock, HEARTBEAT_INTERVAL_MS, signal), ended.promise])
        await Promise.race([this.#selfTest(session, heard), ended.promise])
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      await session.close()
    }
  }

  async #selfTest(session: SqlSession, heard: HeardNonces): Promise<void> {
    const { clock, database, random } = this.#options
    // A dead connection is found by using it.
    await session.query('SELECT 1')
    const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex')
    const arrival = heard.expect(nonce, clock)
    // From another connection: a pooler does deliver the notifications that a statement of the session itself causes.
    await database.query('SELECT pg_notify($1, $2)', [SELF_TEST_CHANNEL, nonce])
    this.#setListening(await arrival)
    this.#warnIfDeaf()
  }

  #setListening(isListening: boolean): void {
    if (this.#isListening === isListening) return
    this.#isListening = isListening
    if (isListening && this.#hasWarned) {
      this.#hasWarned = false
      this.#options.log.info('notifications of the database arrive again')
    }
    this.#options.onListeningChange()
  }

  #warnIfDeaf(): void {
    if (this.#isListening || this.#hasWarned) return
    this.#hasWarned = true
    this.#options.log.warn('notifications of the database do not arrive, polling instead', {
      hint: 'a pooler in transaction mode drops LISTEN; connect to the server directly',
    })
  }
}

/** Waits for the words that the listener sends to itself. */
class HeardNonces {
  readonly #waiting = new Map<string, (heard: boolean) => void>()

  add(nonce: string): void {
    this.#waiting.get(nonce)?.(true)
  }

  expect(nonce: string, clock: Clock): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (heard: boolean): void => {
        timer.cancel()
        this.#waiting.delete(nonce)
        resolve(heard)
      }
      const timer: Timer = clock.setTimer(SELF_TEST_TIMEOUT_MS, () => finish(false))
      this.#waiting.set(nonce, finish)
    })
  }
}
