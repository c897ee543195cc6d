import type { StoredObject } from '../../storage/types.ts'

const COMMA = 44
const BRACE = 123
/** UTF-8 takes at most so many bytes for a unit of a string. */
const MOST_BYTES = 3

/**
 * A large list on its way out: it becomes bytes piece by piece, as its reader takes them. Written as one text it would
 * keep everybody else waiting, and be in memory three times.
 */
export class ListBody {
  readonly #head: string
  readonly #items: readonly StoredObject[]
  readonly #bodyOf: (item: StoredObject) => string
  readonly #tail: string
  /** The next item; −1 before the head. */
  #next = -1
  /** What did not fit. */
  #rest: Buffer | undefined

  /** `bodyOf`: an item's JSON without the brace that it begins with. So it can be a part of a text, which costs no copy. */
  constructor(head: string, items: readonly StoredObject[], bodyOf: (item: StoredObject) => string, tail: string) {
    this.#head = head
    this.#items = items
    this.#bodyOf = bodyOf
    this.#tail = tail
  }

  /** The whole of it. */
  text(): string {
    return `${this.#head}${this.#items.map((item) => `{${this.#bodyOf(item)}`).join(',')}${this.#tail}`
  }

  /** Puts the next bytes into a buffer. Returns how many; 0 at the end. */
  fill(buffer: Buffer): number {
    let at = this.#fillRest(buffer)
    while (!this.#rest && this.#next <= this.#items.length) {
      const text = this.#part(this.#next)
      const isItem = this.#next >= 0 && this.#next < this.#items.length
      const isSeparated = isItem && this.#next > 0
      if (at + 2 + text.length * MOST_BYTES > buffer.length) {
        // It may need more room than is left. Only what is larger than a whole buffer goes in parts.
        if (at > 0) return at
        this.#rest = Buffer.from(`${isSeparated ? ',' : ''}${isItem ? '{' : ''}${text}`)
        this.#next++
        return this.#fillRest(buffer)
      }
      this.#next++
      if (isSeparated) buffer[at++] = COMMA
      if (isItem) buffer[at++] = BRACE
      at += buffer.write(text, at)
    }
    return at
  }

  #part(index: number): string {
    if (index < 0) return this.#head
    const item = this.#items[index]
    return item ? this.#bodyOf(item) : this.#tail
  }

  #fillRest(buffer: Buffer): number {
    const rest = this.#rest
    if (!rest) return 0
    const size = rest.copy(buffer)
    this.#rest = size < rest.length ? rest.subarray(size) : undefined
    return size
  }
}
