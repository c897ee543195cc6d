const MIN_BUFFER_BYTES = 16 * 1024
/** Maximum size of each of the two buffers of an idle stream: an operator has a stream for each kind it watches. */
const MAX_IDLE_BUFFER_BYTES = 64 * 1024
/**
 * After this many small reads in a row the stream counts as idle. Shrinking after each small read would make 80 MB of
 * garbage for a list of 100,000 items that arrives a little slower than it is read.
 */
const IDLE_READS = 16
const NONE = Buffer.alloc(0)

/**
 * Collects bytes until all of them are taken. Two buffers alternate: taken bytes stay valid until the next `take`, and a
 * flowing stream allocates nothing.
 */
export class StreamBuffer {
  #filling: Buffer = NONE
  #taken: Buffer = NONE
  #length = 0
  /** Number of small reads in a row. */
  #smallReads = 0

  get length(): number {
    return this.#length
  }

  add(bytes: Buffer, start: number, end: number): void {
    const needed = this.#length + end - start
    if (needed > this.#filling.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(MIN_BUFFER_BYTES, 2 ** Math.ceil(Math.log2(needed))))
      this.#filling.copy(larger, 0, 0, this.#length)
      this.#filling = larger
    }
    bytes.copy(this.#filling, this.#length, start, end)
    this.#length = needed
  }

  /** The bytes added since the last call; undefined if there are none. Bytes that were taken before become invalid. */
  take(): Buffer | undefined {
    if (this.#length > MIN_BUFFER_BYTES) this.#smallReads = 0
    else if (++this.#smallReads === IDLE_READS) this.#shrink()
    if (this.#length === 0) return undefined
    const bytes = this.#filling.subarray(0, this.#length)
    const free = this.#taken
    this.#taken = this.#filling
    this.#filling = free
    this.#length = 0
    return bytes
  }

  clear(): void {
    this.#length = 0
  }

  /** Keeps the bytes that were not taken. */
  #shrink(): void {
    this.#smallReads = 0
    if (this.#filling.length > MAX_IDLE_BUFFER_BYTES)
      this.#filling = Buffer.from(this.#filling.subarray(0, this.#length))
    if (this.#taken.length > MAX_IDLE_BUFFER_BYTES) this.#taken = NONE
  }
}
