import type { WatchEvent } from '../client/api.ts'
import { ConnectionError } from '../errors/errors.ts'
import { fitterFor } from '../model/representation.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import { errorFromStatus } from '../errors/status-error.ts'

const NEWLINE = 10
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** 64 MiB: forty times what etcd stores of one object, yet no endless line can fill the memory. */
export const DEFAULT_MAX_LINE = 64 * 1024 * 1024

interface RawEvent {
  readonly type: string
  readonly object: KubeObject
}

/**
 * The bytes of a watch as events: JSON, one per line, in chunks that may end anywhere. Lines are found in the bytes, so
 * that a character split between two chunks is never decoded in halves.
 */
export class WatchDecoder<T extends KubeObject> {
  readonly #fit: ((object: KubeObject) => KubeObject) | undefined
  readonly #maxLine: number
  /** The beginning of a line whose end has not come yet. */
  #rest: Uint8Array[] = []
  #restLength = 0
  #failure: Error | undefined

  constructor(kind: Kind<T>, maxLine = DEFAULT_MAX_LINE) {
    this.#fit = fitterFor(kind)
    this.#maxLine = maxLine
  }

  /** Why nothing more will be decoded. What came before it was returned by `push`. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** The events that this chunk completes, in order; perhaps none. */
  push(chunk: Uint8Array): readonly WatchEvent<T>[] {
    const events: WatchEvent<T>[] = []
    if (this.#failure) return events
    const bytes = asBuffer(chunk)
    let start = 0
    let end = bytes.indexOf(NEWLINE)
    if (end >= 0 && this.#restLength > 0) {
      this.#rest.push(bytes.subarray(0, end))
      const line = Buffer.concat(this.#rest, this.#restLength + end)
      this.#rest = []
      this.#restLength = 0
      if (!this.#decode(line, 0, line.length, events)) return events
      start = end + 1
      end = bytes.indexOf(NEWLINE, start)
    }
    for (; end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      if (!this.#decode(bytes, start, end, events)) return events
      start = end + 1
    }
    if (start < bytes.length) this.#keep(bytes, start)
    return events
  }

  /** The stream has ended: what is left of a line must be a whole event, else the connection broke in the middle of it. */
  end(): readonly WatchEvent<T>[] {
    const events: WatchEvent<T>[] = []
    if (this.#failure || this.#restLength === 0) return events
    const line = Buffer.concat(this.#rest, this.#restLength)
    this.#rest = []
    this.#restLength = 0
    this.#decode(line, 0, line.length, events)
    if (this.failure instanceof ConnectionError) {
      this.#failure = new ConnectionError('TENURE_WATCH_CUT', 'The watch ended in the middle of an event: watch again.')
    }
    return events
  }

  #keep(bytes: Buffer, start: number): void {
    // A copy, because the transport may hand out views of one buffer that it fills again, and a short rest should not
    // hold a whole chunk.
    const rest = Buffer.from(start === 0 ? bytes : bytes.subarray(start))
    this.#rest.push(rest)
    this.#restLength += rest.length
    if (this.#restLength > this.#maxLine) this.#fail(lineTooLong(this.#maxLine))
  }

  /** False if nothing after this line may be decoded. */
  #decode(bytes: Buffer, start: number, end: number, events: WatchEvent<T>[]): boolean {
    if (end - start > this.#maxLine) return this.#fail(lineTooLong(this.#maxLine))
    const text = bytes.toString('utf8', start, end)
    let event: RawEvent
    try {
      event = JSON.parse(text) as RawEvent
    } catch (cause) {
      // Blank lines are no events and no harm.
      return text.trim() === '' || this.#fail(garbage(cause))
    }
    if (typeof event?.object !== 'object' || event.object === null) return this.#fail(garbage())
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        // Without one it could not be told from an older state, nor could a watch go on from it.
        if (!event.object.metadata?.resourceVersion) return this.#fail(garbage())
        events.push((this.#fit ? { type: event.type, object: this.#fit(event.object) } : event) as WatchEvent<T>)
        return true
      case 'BOOKMARK': {
        const { metadata } = event.object
        const resourceVersion = metadata?.resourceVersion
        if (!resourceVersion) return this.#fail(garbage())
        const initialEventsEnd = metadata.annotations?.[INITIAL_EVENTS_END] === 'true'
        events.push({ type: 'BOOKMARK', resourceVersion, initialEventsEnd })
        return true
      }
      case 'ERROR':
        return this.#fail(errorFromStatus(event.object, 500))
      default:
        return this.#fail(garbage())
    }
  }

  #fail(failure: Error): false {
    this.#failure = failure
    this.#rest = []
    this.#restLength = 0
    return false
  }
}

/** A view, not a copy: Buffer's own search and decoding are faster than Uint8Array's and TextDecoder's. */
function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function garbage(cause?: unknown): ConnectionError {
  return new ConnectionError(
    'TENURE_WATCH_UNREADABLE',
    'The watch sent something that is not a watch event: something between here and the API server changed it.',
    { cause },
  )
}

function lineTooLong(limit: number): ConnectionError {
  return new ConnectionError(
    'TENURE_WATCH_LINE_TOO_LONG',
    `A watch event is longer than ${limit} bytes, which no stored object is: is this really a Kubernetes API server?`,
  )
}
