import { hostname } from 'node:os'
import type { Clock, KubeApi, KubeObject, Random, Timer } from '@tenure/kube'
import { TenureError, asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { noMetrics } from '../metrics/metrics.ts'
import { microTime } from '../time/micro-time.ts'
import { EventQueue } from './event-queue.ts'
import type { Series } from './event-writer.ts'
import { EventWriter, isNamespaceGone } from './event-writer.ts'
import { LONGEST_NOTE, LONGEST_WORD, cutToBytes, eventName, referenceTo } from './event.ts'
import { TokenBucket, TokenBuckets } from './token-bucket.ts'

export interface EventRecorderOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** Which controller reports: `example.dev/websites`. */
  readonly controller: string
  /** Which of its processes. Default: the host's name. */
  readonly instance?: string
  /** Events that wait to be written; beyond it the oldest are dropped, warnings last. Default 5,000. */
  readonly buffer?: number
  /** Writes at once. Default 4. */
  readonly concurrency?: number
  /** Events that are written as fast as that goes, before the pace is kept; Infinity keeps none. Default 50. */
  readonly burst?: number
  /**
   * Events written per second after that: however much happens, telling of it takes little of the API server's time.
   * Warnings do not wait for others. Default 20.
   */
  readonly rate?: number
  /** How often a write is tried. Default 6, over about half a minute. */
  readonly attempts?: number
  /** How long, in milliseconds, a repeated event counts up the same series. Default 360,000: six minutes. */
  readonly seriesWindow?: number
  /** When one write is given up, in milliseconds. Default 10,000. */
  readonly requestTimeout?: number
  /** Default: silent. */
  readonly log?: Logger
  /** Default: none. */
  readonly metrics?: Metrics
}

export interface EventDetails {
  readonly type: 'Normal' | 'Warning'
  /** Why, as one CamelCase word. */
  readonly reason: string
  /** For people. Cut to 1,024 bytes. In a series the first one's stays. */
  readonly message: string
  /** What was done or tried, as one CamelCase word. Default: the reason. */
  readonly action?: string
  /** A second object that has to do with it. */
  readonly related?: KubeObject
}

/** As client-go limits one source's events about one object. */
const SPAM_BURST = 25
const SPAM_REFILL = 300_000
const MOST_SERIES = 4_096
const COMPLAIN_EVERY = 60_000

/**
 * Writes events.k8s.io Events without ever getting in the way: `record` returns at once and never throws, what can
 * not be written is dropped and counted. The same event again within six minutes counts up a series.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #clock: Clock
  readonly #writer: EventWriter
  readonly #log: Logger
  readonly #instance: string
  readonly #window: number
  /** In order of last occurrence, oldest first. */
  readonly #series = new Map<string, Series>()
  readonly #queue = new EventQueue()
  readonly #tokens: TokenBuckets
  readonly #pace: TokenBucket
  readonly #dropped: (reason: string) => void
  readonly #aborter = new AbortController()
  #writing = 0
  #sweep: Timer | undefined
  /** Set while something waits for nothing but the pace. */
  #paceTimer: Timer | undefined
  #closed = false
  readonly #onIdle = new Set<() => void>()
  #complainedAt = -Infinity

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#writer = new EventWriter({
      api: options.api,
      clock: options.clock,
      random: options.random,
      attempts: options.attempts ?? 6,
      requestTimeout: options.requestTimeout ?? 10_000,
    })
    this.#log = options.log ?? silentLogger
    this.#instance = (options.instance ?? hostname()).slice(0, LONGEST_WORD)
    this.#window = options.seriesWindow ?? 360_000
    this.#tokens = new TokenBuckets(options.clock, SPAM_BURST, SPAM_REFILL, MOST_SERIES)
    this.#pace = new TokenBucket(options.clock, Math.max(options.burst ?? 50, 1), 1_000 / (options.rate ?? 20))
    const dropped = (options.metrics ?? noMetrics).counter({
      name: 'tenure_events_dropped_total',
      help: 'Kubernetes Events that were not written, by why.',
      labels: ['reason'],
    })
    this.#dropped = (reason) => dropped.with({ reason }).inc()
  }

  /** Events that wait or are being written. */
  get pending(): number {
    return this.#queue.size + this.#writing
  }

  /** Series that are counted up, and timers and buckets with them, are bounded: this is how many there are. */
  get seriesCount(): number {
    return this.#series.size
  }

  /** Notes that something happened to `object`. Returns at once, never throws. */
  record(object: KubeObject, details: EventDetails): void {
    try {
      this.#record(object, details)
    } catch (error) {
      this.#drop('invalid', asError(error))
    }
  }

  /**
   * Writes everything there is, series too, without keeping the pace; resolves when that is done or `timeout`
   * (default 5,000 ms) passed.
   */
  async flush(timeout = 5_000): Promise<void> {
    for (const series of this.#series.values()) if (series.count > series.written) this.#enqueue(series)
    if (this.pending === 0) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel()
        this.#onIdle.delete(end)
        resolve()
      }
      const timer = this.#clock.setTimer(timeout, end)
      this.#onIdle.add(end)
      this.#pump()
    })
  }

  /** Flushes, takes no more, and ends what is still under way after `timeout` (default 5,000 ms). */
  async close(timeout = 5_000): Promise<void> {
    this.#closed = true
    await this.flush(timeout)
    for (let left = this.#queue.next; left; left = this.#queue.next) this.#forget(left, 'closed')
    this.#aborter.abort(new TenureError('TENURE_EVENTS_CLOSED', 'The event recorder was closed.'))
    this.#pump()
    this.#sweep?.cancel()
    this.#sweep = undefined
    this.#series.clear()
  }

  #record(object: KubeObject, details: EventDetails): void {
    if (this.#closed) {
      this.#dropped('closed')
      return
    }
    const regarding = referenceTo(object)
    if (!regarding.kind || !regarding.name) throw new TypeError('An event needs an object with a kind and a name.')
    const related = details.related && referenceTo(details.related)
    const action = (details.action || details.reason).slice(0, LONGEST_WORD)
    const reason = details.reason.slice(0, LONGEST_WORD)
    if (!reason) throw new TypeError('An event needs a reason.')
    // The resourceVersion moves on while the same thing keeps happening.
    const about = [regarding.apiVersion, regarding.kind, regarding.namespace, regarding.name, regarding.uid]
    const also = related && [related.apiVersion, related.kind, related.namespace, related.name, related.uid]
    const key = JSON.stringify([about, also, details.type, reason, action])
    const now = this.#clock.now()
    const known = this.#series.get(key)
    if (known && this.#clock.monotonic() - known.seen <= this.#window) {
      this.#repeat(known, now)
      return
    }
    if (known) this.#finish(known)
    const objectKey = JSON.stringify(about)
    if (!this.#tokens.take(objectKey)) {
      this.#dropped('spam')
      return
    }
    const namespace = regarding.namespace ?? 'default'
    const series: Series = {
      key,
      object: objectKey,
      name: eventName(regarding.name, this.#options.random),
      namespace,
      event: {
        eventTime: microTime(now),
        reportingController: this.#options.controller,
        reportingInstance: this.#instance,
        type: details.type,
        reason,
        action,
        note: cutToBytes(details.message, LONGEST_NOTE),
        regarding,
        ...(related && { related }),
      },
      count: 1,
      written: 0,
      seen: this.#clock.monotonic(),
      lastObserved: now,
      state: 'idle',
    }
    this.#remember(series)
    this.#enqueue(series)
  }

  #repeat(series: Series, now: number): void {
    series.count++
    series.seen = this.#clock.monotonic()
    series.lastObserved = now
    this.#remember(series)
    // Without a token the count goes on in memory, and is written when the series ends.
    if (series.state === 'idle' && this.#tokens.take(series.object)) this.#enqueue(series)
  }

  #remember(series: Series): void {
    this.#series.delete(series.key)
    this.#series.set(series.key, series)
    if (this.#series.size > MOST_SERIES) {
      const [oldest] = this.#series.values()
      if (oldest) this.#finish(oldest)
    }
    this.#sweep ??= this.#clock.setTimer(this.#window, () => this.#sweepUp())
  }

  /** Ends the series that nothing was added to for a whole window. */
  #sweepUp(): void {
    this.#sweep = undefined
    const now = this.#clock.monotonic()
    for (const series of this.#series.values()) {
      const left = series.seen + this.#window - now
      if (left > 0) {
        this.#sweep = this.#clock.setTimer(left, () => this.#sweepUp())
        return
      }
      this.#finish(series)
    }
  }

  #finish(series: Series): void {
    this.#series.delete(series.key)
    if (series.count > series.written) this.#enqueue(series)
  }

  #forget(series: Series, why: string): void {
    this.#queue.delete(series)
    series.state = 'idle'
    // What was never written must not be counted up; the next occurrence starts anew.
    if (this.#series.get(series.key) === series) this.#series.delete(series.key)
    this.#dropped(why)
  }

  #enqueue(series: Series): void {
    if (series.state !== 'idle') return
    series.state = 'queued'
    this.#queue.add(series)
    if (this.#queue.size > (this.#options.buffer ?? 5_000)) {
      const least = this.#queue.leastMissed
      if (least) this.#forget(least, 'buffer')
    }
    this.#pump()
  }

  /** Writes what may be written now, and comes back when more may. */
  #pump(): void {
    while (this.#isReady && (this.#pace.take() || this.#isFlushing)) {
      const series = this.#queue.next
      if (!series) break
      this.#queue.delete(series)
      this.#writing++
      void this.#write(series)
    }
    if (this.#isReady) {
      this.#paceTimer ??= this.#clock.setTimer(this.#pace.wait, () => {
        this.#paceTimer = undefined
        this.#pump()
      })
    } else {
      this.#paceTimer?.cancel()
      this.#paceTimer = undefined
    }
    if (this.pending === 0) for (const end of this.#onIdle) end()
  }

  /** Something waits, and but for the pace nothing holds it up. */
  get #isReady(): boolean {
    const { concurrency = 4 } = this.#options
    return this.#queue.size > 0 && this.#writing < concurrency && !this.#aborter.signal.aborted
  }

  /** Somebody waits for everything to be written. */
  get #isFlushing(): boolean {
    return this.#onIdle.size > 0
  }

  /** Never rejects. */
  async #write(series: Series): Promise<void> {
    series.state = 'writing'
    try {
      await this.#writer.write(series, this.#aborter.signal)
      series.state = 'idle'
      if (series.count > series.written && this.#mayWriteAgain(series)) this.#enqueue(series)
    } catch (error) {
      const why = this.#aborter.signal.aborted ? 'closed' : isNamespaceGone(error) ? 'namespace' : 'failed'
      this.#forget(series, why)
      if (why === 'failed') this.#complain(asError(error))
    } finally {
      this.#writing--
      this.#pump()
    }
  }

  /** It happened again meanwhile. The last word on a series is always written, others as the object's tokens allow. */
  #mayWriteAgain(series: Series): boolean {
    const ended = this.#series.get(series.key) !== series || this.#isFlushing
    return ended || this.#tokens.take(series.object)
  }

  #drop(reason: string, error: Error): void {
    this.#dropped(reason)
    this.#complain(error)
  }

  /** A line a minute at most: what is wrong with events is wrong with all of them. */
  #complain(error: Error): void {
    const now = this.#clock.monotonic()
    if (now - this.#complainedAt < COMPLAIN_EVERY) return
    this.#complainedAt = now
    this.#log.warn('could not write events, dropped', { error })
  }
}
