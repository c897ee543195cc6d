import type { Clock, KubeApi, Random } from '@tenure/kube'
import {
  ApiError,
  TenureError,
  fateOf,
  isAlreadyExists,
  isGone,
  isNotFound,
  jitter,
  mergePatch,
  sleep,
  withTimeout,
} from '@tenure/kube'
import { isNamespaceTerminating } from '../actions/namespace-terminating.ts'
import { microTime } from '../time/micro-time.ts'
import type { KubeEvent } from './event.ts'
import { eventName, kubeEvent } from './event.ts'

/** One event and its repetitions. */
export interface Series {
  readonly key: string
  /** Identifies the events that differ in the note only. */
  readonly topic: string
  /** Key of the object that the event regards. */
  readonly object: string
  readonly event: KubeEvent
  readonly namespace: string
  name: string
  count: number
  /** Count that the server has; 0 before the first write. */
  written: number
  /** Monotonic time of the last occurrence, for the window. */
  lastSeen: number
  /** Wall time of the last occurrence, for the Event. */
  lastObserved: number
  state: 'idle' | 'queued' | 'writing'
}

export interface EventWriterOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly attempts: number
  readonly requestTimeout: number
}

/** Writes the count of a series to the server: a create for the first occurrence, patches after that. */
export class EventWriter {
  readonly #options: EventWriterOptions

  constructor(options: EventWriterOptions) {
    this.#options = options
  }

  /** Retries up to the limit, unless the error is permanent. */
  async write(series: Series, signal: AbortSignal): Promise<void> {
    const { attempts, clock, random } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#writeOnce(series, signal)
        return
      } catch (error) {
        if (signal.aborted || attempt >= attempts || isPermanent(error)) throw error
        const backoff = jitter(random, Math.min(500 * 2 ** attempt, 10_000), 0.3)
        const wait = error instanceof ApiError ? Math.max(error.retryAfter ?? 0, backoff) : backoff
        await sleep(clock, wait, signal)
      }
    }
  }

  async #writeOnce(series: Series, parent: AbortSignal): Promise<void> {
    const { clock, random, requestTimeout } = this.#options
    const limit = withTimeout(clock, requestTimeout, () => timedOut(requestTimeout), parent)
    try {
      if (series.written > 0) {
        try {
          await this.#patch(series, limit.signal)
          return
        } catch (error) {
          if (!isNotFound(error) && !isGone(error)) throw error
          // Events expire after about an hour. Create a new one that continues the count.
          series.written = 0
          series.name = eventName(series.event.regarding?.name ?? '', random)
        }
      }
      await this.#create(series, limit.signal)
    } finally {
      limit.dispose()
    }
  }

  async #create(series: Series, signal: AbortSignal): Promise<void> {
    const { count, name, namespace } = series
    const event = { ...series.event, metadata: { name, namespace }, ...(count > 1 && { series: summaryOf(series) }) }
    try {
      await this.#options.api.create(kubeEvent, event, { signal })
      series.written = count
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      // The name is unique, so an earlier attempt succeeded and only its response was lost.
      if (count > 1) await this.#patch(series, signal)
      else series.written = count
    }
  }

  async #patch(series: Series, signal: AbortSignal): Promise<void> {
    // Occurrences during the write are not included in it.
    const { count, name, namespace } = series
    const patch = mergePatch({ series: summaryOf(series) })
    await this.#options.api.patch(kubeEvent, { name, namespace }, patch, { signal })
    series.written = count
  }
}

function summaryOf(series: Series): NonNullable<KubeEvent['series']> {
  return { count: series.count, lastObservedTime: microTime(series.lastObserved) }
}

/**
 * True if the namespace is terminating or gone: a create has no other reason to return 404. The event is not needed.
 */
export function isNamespaceGone(error: unknown): boolean {
  return isNotFound(error) || isNamespaceTerminating(error)
}

/** True if a retry would fail the same way. */
function isPermanent(error: unknown): boolean {
  return fateOf(error) !== 'retry' || isNamespaceGone(error)
}

function timedOut(time: number): TenureError {
  return new TenureError('TENURE_EVENTS_TIMEOUT', `The event was not written within ${time} ms.`, { fate: 'retry' })
}
