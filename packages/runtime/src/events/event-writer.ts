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
import { isNamespaceEnding } from '../actions/namespace-ending.ts'
import { microTime } from '../time/micro-time.ts'
import type { KubeEvent } from './event.ts'
import { eventName, kubeEvent } from './event.ts'

/** One event and all its repetitions. */
export interface Series {
  readonly key: string
  /** The object it regards, as a key. */
  readonly object: string
  readonly event: KubeEvent
  readonly namespace: string
  name: string
  count: number
  /** The count that the server has: 0, nothing yet. */
  written: number
  /** Monotonic, for the window. */
  seen: number
  /** Wall time, for the record. */
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

/** Brings the server up to a series' count: a create for the first, a patch after that. */
export class EventWriter {
  readonly #options: EventWriterOptions

  constructor(options: EventWriterOptions) {
    this.#options = options
  }

  /** Tries as often as allowed, unless the answer would stay the same. */
  async write(series: Series, signal: AbortSignal): Promise<void> {
    const { attempts, clock, random } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#writeOnce(series, signal)
        return
      } catch (error) {
        if (signal.aborted || attempt >= attempts || isHopeless(error)) throw error
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
          // Events live for an hour or so. This one is gone; a new one carries on its count.
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
      // The name is ours alone: an earlier try was carried out, and only its answer was lost.
      if (count > 1) await this.#patch(series, signal)
      else series.written = count
    }
  }

  async #patch(series: Series, signal: AbortSignal): Promise<void> {
    // What happens while we write is not in what we write.
    const { count, name, namespace } = series
    const patch = mergePatch({ series: summaryOf(series) })
    await this.#options.api.patch(kubeEvent, { name, namespace }, patch, { signal })
    series.written = count
  }
}

function summaryOf(series: Series): NonNullable<KubeEvent['series']> {
  return { count: series.count, lastObservedTime: microTime(series.lastObserved) }
}

/** The namespace ends or has ended, which is all that a create can not find: nobody will miss the event. */
export function isNamespaceGone(error: unknown): boolean {
  return isNotFound(error) || isNamespaceEnding(error)
}

/** Trying again would give the same answer. */
function isHopeless(error: unknown): boolean {
  return fateOf(error) !== 'retry' || isNamespaceGone(error)
}

function timedOut(time: number): TenureError {
  return new TenureError('TENURE_EVENTS_TIMEOUT', `An event could not be written within ${time} ms.`, { fate: 'retry' })
}
