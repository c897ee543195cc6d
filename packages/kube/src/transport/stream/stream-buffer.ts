const SMALLEST = 16 * 1024
/** A quiet stream keeps two buffers of at most this size: an operator has a stream for each kind it watches. */
const LARGEST_KEPT = 64 * 1024
/**
 * So often in a row little or nothing was there to take, and the stream is a quiet one. Of a list that comes a little
 * slower than it is read, buffers that shrink each time would be most of the garbage: 80 MB with 100,000 items.
 */
const QUIET = 16
const NONE = Buffer.alloc(0)

/**
 * Bytes that wait to be taken, all at once. Two buffers take turns, so that what was taken stays as it is until `take`
 * is called again, and nothing is allocated while a stream flows: each byte of it would else become garbage outside the heap.
 */
export class StreamBuffer {
  #filling: Buffer = NONE
  #taken: Buffer = NONE
  #length = 0
  /** How often in a row it was little. */
  #little = 0

  get length(): number {
    return this.#length
  }

  add(bytes: Buffer, start: number, end: number): void {
    const needed = this.#length + end - start
    if (needed > this.#filling.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(needed))))
      this.#filling.copy(larger, 0, 0, this.#length)
      this.#filling = larger
    }
    bytes.copy(this.#filling, this.#length, start, end)
    this.#length = needed
  }

  /** What was added since the last time; undefined if nothing was. What was taken before is overwritten from now on. */
  take(): Buffer | undefined {
    if (this.#length > SMALLEST) this.#little = 0
    else if (++this.#little === QUIET) this.#shrink()
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

  /** What waits to be taken stays. */
  #shrink(): void {
    this.#little = 0
    if (this.#filling.length > LARGEST_KEPT) this.#filling = Buffer.from(this.#filling.subarray(0, this.#length))
    if (this.#taken.length > LARGEST_KEPT) this.#taken = NONE
  }
}
