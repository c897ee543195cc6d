/** Items per chunk: moving that many is as quick as finding the chunk in a list of a million. */
const MAX_CHUNK_LENGTH = 1024

/** A list in chunks, so that an insertion anywhere moves few items. */
export class EditableList {
  readonly #chunks: unknown[][] = []
  #length: number

  constructor(items: readonly unknown[]) {
    this.#length = items.length
    for (let at = 0; at < items.length; at += MAX_CHUNK_LENGTH)
      this.#chunks.push(items.slice(at, at + MAX_CHUNK_LENGTH))
    if (items.length === 0) this.#chunks.push([])
  }

  get length(): number {
    return this.#length
  }

  get(index: number): unknown {
    const { chunk, at } = this.#find(index)
    return chunk[at]
  }

  set(index: number, value: unknown): void {
    const { chunk, at } = this.#find(index)
    chunk[at] = value
  }

  insert(index: number, value: unknown): void {
    const { chunk, at, number } = this.#find(index)
    chunk.splice(at, 0, value)
    this.#length++
    if (chunk.length <= MAX_CHUNK_LENGTH) return
    this.#chunks.splice(number + 1, 0, chunk.splice(MAX_CHUNK_LENGTH / 2))
  }

  remove(index: number): void {
    const { chunk, at, number } = this.#find(index)
    chunk.splice(at, 1)
    this.#length--
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(number, 1)
  }

  items(): unknown[] {
    return this.#chunks.flat()
  }

  /** The place of an item; the index after the last item is the end of the last chunk. */
  #find(index: number): { readonly chunk: unknown[]; readonly at: number; readonly number: number } {
    let at = index
    for (let number = 0; number < this.#chunks.length; number++) {
      const chunk = this.#chunks[number] ?? []
      if (at < chunk.length || number === this.#chunks.length - 1) return { chunk, at, number }
      at -= chunk.length
    }
    throw new RangeError(`No item ${index} in a list of ${this.#length}`)
  }
}
