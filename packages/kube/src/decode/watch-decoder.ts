import type { WatchEvent } from '../client/api.ts'
import { ConnectionError } from '../errors/errors.ts'
import { fitterFor } from '../model/representation.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import { errorFromStatus } from '../errors/status-error.ts'

const NEWLINE = 10
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** 64 MiB, forty times the etcd limit for an object: a bound for an endless line. */
export const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024

interface RawEvent {
  readonly type: string
  readonly object: KubeObject
}

/**
 * Decodes the bytes of a watch: one JSON event per line, in chunks that may end anywhere. Lines are split as bytes, so
 * that a character may be split between two chunks.
 */
export class WatchDecoder<T extends KubeObject> {
  readonly #fit: ((object: KubeObject) => KubeObject) | undefined
  readonly #maxLine: number
  /** The start of a line whose end has not arrived. */
  #rest: Uint8Array[] = []
  #restLength = 0
  #failure: Error | undefined

  constructor(kind: Kind<T>, maxLine = DEFAULT_MAX_LINE_BYTES) {
    this.#fit = fitterFor(kind)
    this.#maxLine = maxLine
  }

  /** The reason why decoding stopped. `push` has returned the events before it. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** The events that this chunk completes, in order. */
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

  /** The end of the stream: an incomplete last line means that the connection broke. */
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
    // A copy: the transport may reuse the chunk's memory, and a short rest should not retain a whole chunk.
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
      // Blank lines are ignored.
      return text.trim() === '' || this.#fail(unreadable(cause))
    }
    if (typeof event?.object !== 'object' || event.object === null) return this.#fail(unreadable())
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        // Without a resourceVersion the object's age is unknown, and the watch could not resume after it.
        if (!event.object.metadata?.resourceVersion) return this.#fail(unreadable())
        events.push((this.#fit ? { type: event.type, object: this.#fit(event.object) } : event) as WatchEvent<T>)
        return true
      case 'BOOKMARK': {
        const { metadata } = event.object
        const resourceVersion = metadata?.resourceVersion
        if (!resourceVersion) return this.#fail(unreadable())
        const initialEventsEnd = metadata.annotations?.[INITIAL_EVENTS_END] === 'true'
        events.push({ type: 'BOOKMARK', resourceVersion, initialEventsEnd })
        return true
      }
      case 'ERROR':
        return this.#fail(errorFromStatus(event.object, 500))
      default:
        return this.#fail(unreadable())
    }
  }

  #fail(failure: Error): false {
    this.#failure = failure
    this.#rest = []
    this.#restLength = 0
    return false
  }
}

/** A view, not a copy: Buffer searches and decodes faster than Uint8Array and TextDecoder. */
function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function unreadable(cause?: unknown): ConnectionError {
  return new ConnectionError(
    'TENURE_WATCH_UNREADABLE',
    'The watch sent data that is not a watch event: check for a proxy that changes responses.',
    { cause },
  )
}

function lineTooLong(limit: number): ConnectionError {
  return new ConnectionError(
    'TENURE_WATCH_LINE_TOO_LONG',
    `A watch event is longer than ${limit} bytes, more than any stored object: check that the address is that of an API server.`,
  )
}
