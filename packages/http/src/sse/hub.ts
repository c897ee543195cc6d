import type { Clock, Timer } from '@tenure/kube'
import type { Counter, Metrics } from '@tenure/runtime'
import { noMetrics } from '@tenure/runtime'
import type { HttpResponse, StreamSink } from '../routes/response.ts'
import { stream } from '../routes/response.ts'
import { HttpError } from '../errors/http-error.ts'
import type { Frame } from './ring.ts'
import { Ring } from './ring.ts'

/** Which events a reader gets. Those with the same `key` share their bytes. */
export interface SseFilter<T> {
  readonly key: string
  matches(about: T): boolean
}

export interface SseEvent<T> {
  /** What a reader sends back as `Last-Event-ID` to go on from here. */
  readonly id: string
  /** Sent as JSON. */
  readonly data: unknown
  /** What filters judge. */
  readonly about: T
}

export interface SseHubOptions<T> {
  readonly clock: Clock
  /** For logs and figures: `watch`. */
  readonly name: string
  /** Milliseconds between comments that keep connections, and what is between, awake. Default 15,000. */
  readonly heartbeat?: number
  /** Bytes that a reader may leave unread; one that leaves more is cut off. Default 4 MiB. */
  readonly bufferBytes?: number
  /** Milliseconds between two writes: events of a burst go out together. The first goes at once. Default 20. */
  readonly batchInterval?: number
  /** Events that are kept for readers that come back. Default 10,000, of together at most 2 MiB. */
  readonly replayFrames?: number
  readonly replayBytes?: number
  /**
   * Events after `id`, oldest first, from whoever remembers longer than this hub; undefined if nobody does. Default:
   * nobody.
   */
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
 * Server-sent events from one source to many readers. An event is encoded once, a burst is one write per reader, one
 * timer keeps all of them awake; a reader that does not read is cut off, and may come back with its last id.
 */
export class SseHub<T> {
  readonly #options: SseHubOptions<T>
  readonly #ring: Ring<T>
  /** Readers by filter. */
  readonly #groups = new Map<string, Group<T>>()
  readonly #bufferBytes: number
  readonly #dropped: Counter
  #readers = 0
  /** Not written yet. */
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
      help: 'Stream readers cut off for not reading.',
      labels,
    }
    this.#dropped = metrics.counter(dropped).with({ stream: name })
  }

  /** How many read now. */
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

  /** The answer that streams to one reader. Rejects with a 410 if what it has missed is no longer known. */
  async open({ filter = EVERYTHING, lastEventId, signal }: SseOpenOptions<T>): Promise<HttpResponse> {
    const missed = lastEventId === undefined ? undefined : await this.#missed(lastEventId, signal)
    // Nothing can happen between here and the call below but the writing of the head.
    const from = missed?.end ?? this.#ring.end
    const frames = missed?.frames ?? []
    return stream((sink) => this.#join(sink, filter, frames, from), 'text/event-stream; charset=utf-8', HEADERS)
  }

  #join(sink: StreamSink, filter: SseFilter<T>, missed: readonly Frame<T>[], from: number): () => void {
    this.#flush()
    const later = this.#ring.from(from)
    if (!later) {
      // So much came in the meantime: it may come back and be told.
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
    // A first comment tells the reader, and proxies that wait for a body, that this is it.
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

  /** Writes what is due, to every reader what its filter lets through: once encoded, once gathered per filter. */
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

  /** What came after `id`, and the position up to which that goes. */
  async #missed(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly frames: readonly Frame<T>[]; readonly end: number }> {
    const ring = this.#ring
    // Several events may have one id; who has seen the first may not have seen the others.
    const at = ring.find(id)
    if (at !== undefined) return { frames: ring.from(at + 1) ?? [], end: ring.end }
    const before = ring.end
    const events = await this.#options.history?.(id, signal)
    const since = ring.from(before)
    if (!events || !since) throw gone(id)
    const frames = events.map(encode)
    if (frames.reduce((sum, { bytes }) => sum + bytes.length, 0) > this.#bufferBytes / 2) throw gone(id)
    // By their bytes and not by their ids: two events may have one id, and twice is better than never.
    const known = new Set(frames.map(({ bytes }) => bytes.toString()))
    return { frames: [...frames, ...since.filter(({ bytes }) => !known.has(bytes.toString()))], end: ring.end }
  }
}

function encode<T>({ id, data, about }: SseEvent<T>): Frame<T> {
  // Neither an id nor JSON has a line break, which would end the line that it stands on.
  return { id, about, bytes: Buffer.from(`id: ${id}\ndata: ${JSON.stringify(data)}\n\n`) }
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
