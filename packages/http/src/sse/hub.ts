import type { Clock, Timer } from '@tenure/kube'
import type { Counter, Metrics } from '@tenure/runtime'
import { noMetrics } from '@tenure/runtime'
import type { HttpResponse, StreamSink } from '../routes/response.ts'
import { stream } from '../routes/response.ts'
import { HttpError } from '../errors/http-error.ts'
import type { Frame } from './ring.ts'
import { frameOf, Ring } from './ring.ts'

/** Selects the events of a reader. Readers with the same `key` share encoded bytes. */
export interface SseFilter<T> {
  readonly key: string
  matches(about: T): boolean
}

export interface SseEvent<T> {
  /** The `Last-Event-ID` with which a reader resumes after this event. */
  readonly id: string
  /** Sent as JSON. */
  readonly data: unknown
  /** The input of filters. */
  readonly about: T
}

export interface SseHubOptions<T> {
  readonly clock: Clock
  /** The name in metrics: `watch`. */
  readonly name: string
  /** Milliseconds between comments that keep connections and proxies alive. Default 15,000. */
  readonly heartbeat?: number
  /** Maximum number of unread bytes of a reader; beyond it the reader is disconnected. Default 4 MiB. */
  readonly bufferBytes?: number
  /** Milliseconds between two writes: the events of a burst are sent together, the first one at once. Default 20. */
  readonly batchInterval?: number
  /** Maximum number of events that are kept for readers that resume. Default 10,000. */
  readonly replayFrames?: number
  /** Maximum size of these events in bytes. Default 2 MiB. */
  readonly replayBytes?: number
  /** Reads events after `id`, oldest first, from a longer history than that of this hub; undefined if unknown. Default none. */
  readonly history?: (id: string, signal: AbortSignal) => Promise<readonly SseEvent<T>[] | undefined>
  /** Default: none. */
  readonly metrics?: Metrics
}

export interface SseOpenOptions<T> {
  /** Default: everything. */
  readonly filter?: SseFilter<T> | undefined
  /** Default: from now on. */
  readonly lastEventId?: string | undefined
  readonly signal: AbortSignal
}

interface Group<T> {
  readonly filter: SseFilter<T>
  readonly readers: Set<Reader<T>>
}

interface Reader<T> {
  readonly sink: StreamSink
  readonly group: Group<T>
}

const EVERYTHING = { key: '', matches: () => true }
const HEARTBEAT = Buffer.from(': heartbeat\n\n')
const WELCOME = Buffer.from(': ok\n\n')
const HEADERS = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' }

/**
 * Sends server-sent events from one source to many readers. Each event is encoded once, a burst is one write per reader,
 * and one timer sends all heartbeats. A reader that does not read is disconnected and can resume with its last id.
 */
export class SseHub<T> {
  readonly #options: SseHubOptions<T>
  readonly #ring: Ring<T>
  /** Readers by filter. */
  readonly #groups = new Map<string, Group<T>>()
  readonly #bufferBytes: number
  readonly #dropped: Counter
  #readers = 0
  /** Events that are not written yet. */
  #pending: Frame<T>[] = []
  #lastWrite = -Infinity
  #flushing: Timer | undefined
  #beating: Timer | undefined

  constructor(options: SseHubOptions<T>) {
    const { name, replayFrames = 10_000, replayBytes = 2 * 1024 * 1024, metrics = noMetrics } = options
    this.#options = options
    this.#bufferBytes = options.bufferBytes ?? 4 * 1024 * 1024
    this.#ring = new Ring({ maxFrames: replayFrames, maxBytes: replayBytes })
    const labels = ['stream']
    const dropped = {
      name: 'http_stream_readers_dropped_total',
      help: 'Number of stream readers disconnected because they did not read.',
      labels,
    }
    this.#dropped = metrics.counter(dropped).with({ stream: name })
  }

  /** Number of connected readers. */
  get readers(): number {
    return this.#readers
  }

  /** The id of the newest event; undefined before the first. */
  get lastId(): string | undefined {
    return this.#ring.from(Math.max(this.#ring.end - 1, this.#ring.start))?.[0]?.id
  }

  publish(event: SseEvent<T>): void {
    const frame = encode(event)
    this.#ring.push(frame)
    if (this.#readers === 0) return
    this.#pending.push(frame)
    if (this.#flushing) return
    const { clock, batchInterval = 20 } = this.#options
    const wait = this.#lastWrite + batchInterval - clock.monotonic()
    if (wait <= 0) this.#flush()
    else this.#flushing = clock.setTimer(wait, () => this.#flush())
  }

  /** The streamed response for one reader. Rejects with a 410 if missed events are no longer known. */
  async open({ filter = EVERYTHING, lastEventId, signal }: SseOpenOptions<T>): Promise<HttpResponse> {
    const missed = lastEventId === undefined ? undefined : await this.#missed(lastEventId, signal)
    // Only the headers are written between here and `#join`.
    const from = missed?.end ?? this.#ring.end
    const frames = missed?.frames ?? []
    return stream((sink) => this.#join(sink, filter, frames, from), 'text/event-stream; charset=utf-8', HEADERS)
  }

  #join(sink: StreamSink, filter: SseFilter<T>, missed: readonly Frame<T>[], from: number): () => void {
    this.#flush()
    const later = this.#ring.from(from)
    if (!later) {
      // Too many events arrived in the meantime: the reader can reconnect and gets a 410.
      sink.destroy()
      return () => undefined
    }
    const group = this.#groups.get(filter.key) ?? { filter, readers: new Set() }
    const reader = { sink, group }
    this.#groups.set(filter.key, group)
    group.readers.add(reader)
    this.#readers++
    this.#beating ??= this.#beat()
    const first = batchOf([...missed, ...later], filter)
    // A first comment makes proxies that wait for a body forward the response.
    this.#write(reader, first.length > 0 ? first : WELCOME)
    return () => this.#leave(reader)
  }

  #leave(reader: Reader<T>): void {
    const { readers, filter } = reader.group
    if (!readers.delete(reader)) return
    this.#readers--
    if (readers.size === 0) this.#groups.delete(filter.key)
    if (this.#readers > 0) return
    this.#beating?.cancel()
    this.#beating = undefined
    this.#flush()
  }

  /** Writes pending events to the readers whose filter matches. A batch is built once per filter. */
  #flush(): void {
    this.#flushing?.cancel()
    this.#flushing = undefined
    const frames = this.#pending
    if (frames.length === 0) return
    this.#pending = []
    this.#lastWrite = this.#options.clock.monotonic()
    for (const { filter, readers } of this.#groups.values()) {
      const batch = batchOf(frames, filter)
      if (batch.length > 0) for (const reader of readers) this.#write(reader, batch)
    }
  }

  #write(reader: Reader<T>, bytes: Buffer): void {
    const { sink } = reader
    sink.write(bytes)
    if (sink.buffered <= this.#bufferBytes) return
    this.#dropped.inc()
    this.#leave(reader)
    sink.destroy()
  }

  #beat(): Timer {
    const { clock, heartbeat = 15_000 } = this.#options
    return clock.setTimer(heartbeat, () => {
      for (const { readers } of this.#groups.values()) for (const reader of readers) this.#write(reader, HEARTBEAT)
      this.#beating = this.#readers > 0 ? this.#beat() : undefined
    })
  }

  /** The events after `id`, and the position after the last of them. */
  async #missed(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly frames: readonly Frame<T>[]; readonly end: number }> {
    const ring = this.#ring
    // Several events may share an id; a reader may have seen only the first of them.
    const at = ring.find(id)
    if (at !== undefined) return { frames: ring.from(at + 1) ?? [], end: ring.end }
    const before = ring.end
    const events = await this.#options.history?.(id, signal)
    const since = ring.from(before)
    if (!events || !since) throw gone(id)
    const frames = events.map(encode)
    if (frames.reduce((sum, { bytes }) => sum + bytes.length, 0) > this.#bufferBytes / 2) throw gone(id)
    // Compared by bytes, because events may share an id. Sending an event twice is better than losing it.
    const known = new Set(frames.map(({ bytes }) => bytes.toString()))
    return { frames: [...frames, ...since.filter(({ bytes }) => !known.has(bytes.toString()))], end: ring.end }
  }
}

function encode<T>({ id, data, about }: SseEvent<T>): Frame<T> {
  return frameOf(id, data, about)
}

function batchOf<T>(frames: readonly Frame<T>[], filter: SseFilter<T>): Buffer {
  const chosen = frames.filter(({ about }) => filter.matches(about))
  const [only] = chosen
  return chosen.length === 1 && only ? only.bytes : Buffer.concat(chosen.map(({ bytes }) => bytes))
}

function gone(id: string): HttpError {
  const message = `What came after event ${id} is no longer known; list the objects, then watch without Last-Event-ID`
  return new HttpError('TENURE_HTTP_GONE', 410, message)
}
