import type { StoredObject } from '../../storage/types.ts'

const COMMA = 44
const BRACE = 123
/** Maximum UTF-8 bytes of a UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3

/**
 * A large list that is encoded piece by piece as its reader takes them. Encoding it as one string would block other
 * requests and hold it in memory three times.
 */
export class ListBody {
  readonly #head: string
  readonly #items: readonly StoredObject[]
  readonly #bodyOf: (item: StoredObject) => string
  readonly #tail: string
  /** Index of the next item; −1 before the head. */
  #next = -1
  /** Bytes that did not fit. */
  #rest: Buffer | undefined

  /** `bodyOf` returns an item's JSON without its first brace, which is a slice of the stored text and costs no copy. */
  constructor(head: string, items: readonly StoredObject[], bodyOf: (item: StoredObject) => string, tail: string) {
    this.#head = head
    this.#items = items
    this.#bodyOf = bodyOf
    this.#tail = tail
  }

  /** The whole list as text. */
  text(): string {
    return `${this.#head}${[...this.itemTexts()].join(',')}${this.#tail}`
  }

  /** The list as text, without its items. */
  emptyText(): string {
    return this.#head + this.#tail
  }

  /** The text of each item. */
  *itemTexts(): Generator<string, void, undefined> {
    for (const item of this.#items) yield `{${this.#bodyOf(item)}`
  }

  /** Fills a buffer with the next bytes. Returns their number; 0 at the end. */
  fill(buffer: Buffer): number {
    let at = this.#fillRest(buffer)
    while (!this.#rest && this.#next <= this.#items.length) {
      const text = this.#part(this.#next)
      const isItem = this.#next >= 0 && this.#next < this.#items.length
      const isSeparated = isItem && this.#next > 0
      if (at + 2 + text.length * MAX_BYTES_PER_UNIT > buffer.length) {
        // It may not fit. Only an item larger than a whole buffer is split.
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
