/** One event, encoded once for all readers. */
export interface Frame<T> {
  readonly id: string
  readonly bytes: Buffer
  /** The input of filters. */
  readonly about: T
}

/**
 * The frame of an event. Its bytes have memory of their own: a small buffer from Node's pool keeps 64 KiB alive for as long
 * as it is kept itself, and a ring keeps thousands.
 */
export function frameOf<T>(id: string, data: unknown, about: T): Frame<T> {
  // Neither ids nor JSON contain line breaks, which would end the field.
  const text = `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return { id, about, bytes }
}

export interface RingOptions {
  readonly maxFrames: number
  readonly maxBytes: number
}

/** A bounded buffer of the latest frames. Positions count from 0 for the first frame ever. */
export class Ring<T> {
  readonly #options: RingOptions
  /** The frames; the first valid one has the position `#start`. */
  #frames: Frame<T>[] = []
  #start = 0
  #bytes = 0
  /** Number of dropped frames at the start of the array, which are removed together. */
  #dropped = 0

  constructor(options: RingOptions) {
    this.#options = options
  }

  /** The position of the next frame. */
  get end(): number {
    return this.#start + this.#frames.length - this.#dropped
  }

  /** The position of the oldest frame. */
  get start(): number {
    return this.#start
  }

  get bytes(): number {
    return this.#bytes
  }

  push(frame: Frame<T>): void {
    this.#frames.push(frame)
    this.#bytes += frame.bytes.length
    const { maxFrames, maxBytes } = this.#options
    while (this.#frames.length - this.#dropped > maxFrames || (this.#bytes > maxBytes && this.end > this.#start)) {
      this.#bytes -= this.#frames[this.#dropped]?.bytes.length ?? 0
      this.#dropped++
      this.#start++
    }
    if (this.#dropped > 64 && this.#dropped * 2 > this.#frames.length) {
      this.#frames = this.#frames.slice(this.#dropped)
      this.#dropped = 0
    }
  }

  /** Frames from `position` on; undefined if some of them were dropped. */
  from(position: number): readonly Frame<T>[] | undefined {
    if (position < this.#start) return undefined
    return this.#frames.slice(this.#dropped + position - this.#start)
  }

  /** The position of the first frame with this id. */
  find(id: string): number | undefined {
    const at = this.#frames.findIndex((frame, index) => index >= this.#dropped && frame.id === id)
    return at < 0 ? undefined : this.#start + at - this.#dropped
  }
}
