import { hostname } from 'node:os'
import type { Clock, KubeApi, KubeObject, Random, Timer } from '@tenure/kube'
import { TenureError, TokenBucket, TokenBuckets, asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { noMetrics } from '../metrics/metrics.ts'
import { microTime } from '../time/micro-time.ts'
import { EventQueue } from './event-queue.ts'
import type { Series } from './event-writer.ts'
import { EventWriter, isNamespaceGone } from './event-writer.ts'
import { MAX_NOTE_BYTES, MAX_WORD_LENGTH, cutToBytes, eventName, referenceTo } from './event.ts'

export interface EventRecorderOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** The reporting controller: `example.dev/websites`. */
  readonly controller: string
  /** The reporting process. Default: the host name. */
  readonly instance?: string
  /** Maximum number of queued events; beyond it the oldest are dropped, warnings last. Default 5,000. */
  readonly buffer?: number
  /** Concurrent writes. Default 4. */
  readonly concurrency?: number
  /** Number of events that may exceed `rate`; Infinity disables the limit. Default 50. */
  readonly burst?: number
  /**
   * Events written per second beyond the burst, so that Events do not load the API server. Warnings go first. Default
   * 20.
   */
  readonly rate?: number
  /** Attempts per write. Default 6, over about half a minute. */
  readonly attempts?: number
  /** Milliseconds during which a repeated event counts towards the same series. Default 360,000: six minutes. */
  readonly seriesWindow?: number
  /** Timeout of one write in milliseconds. Default 10,000. */
  readonly requestTimeout?: number
  /** Default: no logs. */
  readonly log?: Logger
  /** Default: no metrics. */
  readonly metrics?: Metrics
}

export interface EventDetails {
  readonly type: 'Normal' | 'Warning'
  /** The reason as one CamelCase word. */
  readonly reason: string
  /** Message for people, truncated to 1,024 bytes. */
  readonly message: string
  /** The action taken or attempted, as one CamelCase word. Default: the reason. */
  readonly action?: string
  /** A second object that is involved. */
  readonly related?: KubeObject
  /** Number of occurrences that are recorded together. Default 1. */
  readonly count?: number
}

/**
 * client-go's spam filter: burst, and milliseconds per further event, for the events of one source about one object.
 */
const SPAM_BURST = 25
const SPAM_REFILL = 300_000
/** Maximum number of series that are counted. */
const MAX_SERIES = 4_096
/** Minimum milliseconds between two warnings about failed writes. */
const WARNING_INTERVAL_MS = 60_000

/**
 * Writes events.k8s.io Events without blocking the caller: `record` returns at once and never throws; events that
 * cannot be written are dropped and counted. The same event within six minutes increments a series; an event with
 * another message is another one, because the API server does not allow the note of an Event to change.
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
  /** The latest series of each topic. */
  readonly #latest = new Map<string, Series>()
  readonly #queue = new EventQueue()
  readonly #tokens: TokenBuckets
  readonly #rateLimit: TokenBucket
  readonly #dropped: (reason: string) => void
  readonly #aborter = new AbortController()
  #writing = 0
  #sweep: Timer | undefined
  /** Set while queued events wait for the rate limit. */
  #rateTimer: Timer | undefined
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
    this.#instance = (options.instance ?? hostname()).slice(0, MAX_WORD_LENGTH)
    this.#window = options.seriesWindow ?? 360_000
    this.#tokens = new TokenBuckets({
      clock: options.clock,
      burst: SPAM_BURST,
      refillMs: SPAM_REFILL,
      maxKeys: MAX_SERIES,
    })
    this.#rateLimit = new TokenBucket({
      clock: options.clock,
      burst: Math.max(options.burst ?? 50, 1),
      refillMs: 1_000 / (options.rate ?? 20),
    })
    const dropped = (options.metrics ?? noMetrics).counter({
      name: 'tenure_events_dropped_total',
      help: 'Number of Kubernetes Events dropped, by reason.',
      labels: ['reason'],
    })
    this.#dropped = (reason) => dropped.with({ reason }).inc()
  }

  /** Number of events that are queued or being written. */
  get pending(): number {
    return this.#queue.size + this.#writing
  }

  /** Number of series that are counted. They are bounded, and with them timers and buckets. */
  get seriesCount(): number {
    return this.#series.size
  }

  /** Records that something happened to `object`. Returns at once and never throws. */
  record(object: KubeObject, details: EventDetails): void {
    try {
      this.#record(object, details)
    } catch (error) {
      this.#drop('invalid', asError(error))
    }
  }

  /**
   * Writes all queued events and series, ignoring the rate limit. Resolves when that is done or after `timeout`
   * (default 5,000 ms).
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

  /** Flushes, accepts no more events, and aborts the remaining writes after `timeout` (default 5,000 ms). */
  async close(timeout = 5_000): Promise<void> {
    this.#closed = true
    await this.flush(timeout)
    for (let left = this.#queue.next; left; left = this.#queue.next) this.#forget(left, 'closed')
    this.#aborter.abort(new TenureError('TENURE_EVENTS_CLOSED', 'The event recorder was closed.'))
    this.#pump()
    this.#sweep?.cancel()
    this.#sweep = undefined
    this.#series.clear()
    this.#latest.clear()
  }

  #record(object: KubeObject, details: EventDetails): void {
    if (this.#closed) {
      this.#dropped('closed')
      return
    }
    const regarding = referenceTo(object)
    if (!regarding.kind || !regarding.name) throw new TypeError('An event needs an object with kind and metadata.name.')
    const related = details.related && referenceTo(details.related)
    const action = (details.action || details.reason).slice(0, MAX_WORD_LENGTH)
    const reason = details.reason.slice(0, MAX_WORD_LENGTH)
    if (!reason) throw new TypeError('An event needs a reason.')
    // The resourceVersion changes while the same event repeats, so it is not part of the key.
    const about = [regarding.apiVersion, regarding.kind, regarding.namespace, regarding.name, regarding.uid]
    const also = related && [related.apiVersion, related.kind, related.namespace, related.name, related.uid]
    const note = cutToBytes(details.message, MAX_NOTE_BYTES)
    const topic = JSON.stringify([about, also, details.type, reason, action])
    const key = JSON.stringify([topic, note])
    const { count = 1 } = details
    const now = this.#clock.now()
    const known = this.#series.get(key)
    if (known && this.#isCurrent(known)) {
      this.#repeat(known, count, now)
      return
    }
    if (known) this.#finish(known)
    const objectKey = JSON.stringify(about)
    if (!this.#tokens.take(objectKey)) {
      // Without a token for another Event, the latest one with this reason counts the occurrence.
      const latest = this.#latest.get(topic)
      if (latest && this.#isCurrent(latest)) this.#repeat(latest, count, now)
      else this.#dropped('spam')
      return
    }
    const namespace = regarding.namespace ?? 'default'
    const series: Series = {
      key,
      topic,
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
        note,
        regarding,
        ...(related && { related }),
      },
      count,
      written: 0,
      lastSeen: this.#clock.monotonic(),
      lastObserved: now,
      state: 'idle',
    }
    this.#remember(series)
    this.#enqueue(series)
  }

  #isCurrent({ lastSeen }: Series): boolean {
    return this.#clock.monotonic() - lastSeen <= this.#window
  }

  #repeat(series: Series, count: number, now: number): void {
    series.count += count
    series.lastSeen = this.#clock.monotonic()
    series.lastObserved = now
    this.#remember(series)
    // Without a token the series is counted in memory and written when it ends.
    if (series.state === 'idle' && this.#tokens.take(series.object)) this.#enqueue(series)
  }

  #remember(series: Series): void {
    this.#series.delete(series.key)
    this.#series.set(series.key, series)
    this.#latest.set(series.topic, series)
    if (this.#series.size > MAX_SERIES) {
      const [oldest] = this.#series.values()
      if (oldest) this.#finish(oldest)
    }
    this.#sweep ??= this.#clock.setTimer(this.#window, () => this.#endSeries())
  }

  /** Ends the series that did not repeat for a whole window. */
  #endSeries(): void {
    this.#sweep = undefined
    const now = this.#clock.monotonic()
    for (const series of this.#series.values()) {
      const left = series.lastSeen + this.#window - now
      if (left > 0) {
        this.#sweep = this.#clock.setTimer(left, () => this.#endSeries())
        return
      }
      this.#finish(series)
    }
  }

  #finish(series: Series): void {
    this.#end(series)
    if (series.count > series.written) this.#enqueue(series)
  }

  #forget(series: Series, why: string): void {
    this.#queue.delete(series)
    series.state = 'idle'
    // A series that was never written cannot be incremented; the next occurrence starts a new one.
    this.#end(series)
    this.#dropped(why)
  }

  #end(series: Series): void {
    if (this.#series.get(series.key) === series) this.#series.delete(series.key)
    if (this.#latest.get(series.topic) === series) this.#latest.delete(series.topic)
  }

  #enqueue(series: Series): void {
    if (series.state !== 'idle') return
    series.state = 'queued'
    this.#queue.add(series)
    if (this.#queue.size > (this.#options.buffer ?? 5_000)) {
      const least = this.#queue.nextToDrop
      if (least) this.#forget(least, 'buffer')
    }
    this.#pump()
  }

  /** Writes as many events as the limits allow, and schedules itself for the rest. */
  #pump(): void {
    while (this.#isReady && (this.#rateLimit.take() || this.#isFlushing)) {
      const series = this.#queue.next
      if (!series) break
      this.#queue.delete(series)
      this.#writing++
      void this.#write(series)
    }
    if (this.#isReady) {
      this.#rateTimer ??= this.#clock.setTimer(this.#rateLimit.wait, () => {
        this.#rateTimer = undefined
        this.#pump()
      })
    } else {
      this.#rateTimer?.cancel()
      this.#rateTimer = undefined
    }
    if (this.pending === 0) for (const end of this.#onIdle) end()
  }

  /** True if an event is queued and only the rate limit may delay it. */
  get #isReady(): boolean {
    const { concurrency = 4 } = this.#options
    return this.#queue.size > 0 && this.#writing < concurrency && !this.#aborter.signal.aborted
  }

  /** True while a caller waits for everything to be written. */
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
      if (why === 'failed') this.#warn(asError(error))
    } finally {
      this.#writing--
      this.#pump()
    }
  }

  /**
   * True if the event repeated meanwhile. The final count of a series is always written, others if the object has a
   * token.
   */
  #mayWriteAgain(series: Series): boolean {
    const ended = this.#series.get(series.key) !== series || this.#isFlushing
    return ended || this.#tokens.take(series.object)
  }

  #drop(reason: string, error: Error): void {
    this.#dropped(reason)
    this.#warn(error)
  }

  /** At most one warning per interval: if one write fails, they usually all do. */
  #warn(error: Error): void {
    const now = this.#clock.monotonic()
    if (now - this.#complainedAt < WARNING_INTERVAL_MS) return
    this.#complainedAt = now
    this.#log.warn('failed to write events, dropping them', { error })
  }
}
