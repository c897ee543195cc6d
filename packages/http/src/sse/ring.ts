/** One event, encoded once for all who read it. */
export interface Frame<T> {
  readonly id: string
  readonly bytes: Buffer
  /** What filters judge. */
  readonly about: T
}

export interface RingOptions {
  readonly maxFrames: number
  readonly maxBytes: number
}

/** The latest frames, a bounded number of them, by position: the first ever is 0. */
export class Ring<T> {
  readonly #options: RingOptions
  /** Its first is at `#start`; what is before that is gone. */
  #frames: Frame<T>[] = []
  #start = 0
  #bytes = 0
  /** Frames at the beginning of the array that are gone already, to be cut off in one go. */
  #dropped = 0

  constructor(options: RingOptions) {
    this.#options = options
  }

  /** The position of the next frame. */
  get end(): number {
    return this.#start + this.#frames.length - this.#dropped
  }

  /** The position of the oldest frame that is still here. */
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

  /** Frames from `position` on; undefined if some of them are gone. */
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
