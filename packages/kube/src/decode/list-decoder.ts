import type { AnswerDecoder } from '../transport/response-stream.ts'
import { ConnectionError } from '../errors/errors.ts'
import { itemFitterFor } from '../model/representation.ts'
import { lastElementComma, openingOf } from './json-items.ts'
import { kindKey } from '../model/kind.ts'
import type { Kind } from '../model/kind.ts'
import { ManagedFieldsCutter, parseJson } from './managed-fields-cutter.ts'
import type { KubeObject, ListMeta, Stored } from '../model/object.ts'

/** Bytes of items per JSON.parse. Longer texts were no faster, and took more memory: 64 KB about 4 MB of RSS. */
const ENOUGH = 32 * 1024
/** Where the items begin. A list that is written otherwise is read when it is whole. */
const ITEMS = Buffer.from('"items":[')
const BETWEEN = Buffer.from('},')
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d]
/** Where the bytes begin: before them there is room for a bracket. */
const START = 1

interface Envelope {
  readonly items?: readonly KubeObject[] | null
  readonly metadata?: ListMeta
}

/**
 * The bytes of a list as items, long before the list is whole. It is cut where an item seems to begin, by the bytes
 * that the first one began with, and JSON.parse tells whether that was right: nothing but whole items is the content of
 * an array. If it was not, brackets are counted, which takes longer.
 */
export class ListDecoder<T extends KubeObject> implements AnswerDecoder<Stored<T>> {
  readonly #kind: Kind<T>
  readonly #fit: (item: KubeObject) => KubeObject
  /** Undefined: all managedFields are wanted. */
  readonly #cutter: ManagedFieldsCutter | undefined
  #bytes: Buffer = Buffer.allocUnsafeSlow(4 * ENOUGH)
  /** Where they end. */
  #length = START
  /** What came before the items; undefined until they begin. */
  #head: Buffer | undefined
  /** How far the items' beginning was looked for. */
  #searched = 0
  /** The end of an item and the beginning of the next; undefined until the first has come. */
  #seam: Buffer | undefined
  /** How many bytes there must be before items are looked for. */
  #enough = ENOUGH
  #failure: Error | undefined
  #metadata: ListMeta | undefined

  /** `managedFieldsOf` are those whose entries are wanted. Default everybody. */
  constructor(kind: Kind<T>, managedFieldsOf?: readonly string[]) {
    this.#kind = kind
    this.#fit = itemFitterFor(kind)
    this.#cutter = managedFieldsOf && new ManagedFieldsCutter(managedFieldsOf)
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  /** The list's own metadata, once the list has ended well. */
  get metadata(): ListMeta | undefined {
    return this.#metadata
  }

  push(chunk: Uint8Array): readonly Stored<T>[] {
    if (this.#failure) return []
    this.#add(chunk)
    if (!this.#head && !this.#findItems()) return []
    return this.#length - START >= this.#enough ? this.#takeItems() : []
  }

  /** What is left, with what came before the items, is a list too: that of the last ones. */
  end(): readonly Stored<T>[] {
    if (this.#failure) return []
    const left = this.#bytes.subarray(START, this.#length)
    const list = parseJson((this.#head ? Buffer.concat([this.#head, left]) : left).toString('utf8')) as
      | Envelope
      | undefined
    // An empty list of some servers has `items: null`. What has no items at all is something else, and to take it for an
    // empty list would be to take everything for deleted.
    const items = list?.items === null ? [] : list?.items
    if (!list?.metadata || !Array.isArray(items)) return this.#fail()
    this.#bytes = Buffer.alloc(0)
    this.#metadata = list.metadata
    return this.#fitted(items)
  }

  #add(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(needed)))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = needed
  }

  #drop(count: number): void {
    this.#bytes.copyWithin(START, START + count, this.#length)
    this.#length -= count
  }

  #findItems(): boolean {
    const bytes = this.#bytes.subarray(START, this.#length)
    for (let at = bytes.indexOf(ITEMS, this.#searched); at >= 0; at = bytes.indexOf(ITEMS, this.#searched)) {
      const end = at + ITEMS.length
      // The list's own, and not those of something in it.
      if (parseJson(`${bytes.toString('utf8', 0, end)}]}`)) {
        this.#head = Buffer.from(bytes.subarray(0, end))
        this.#drop(end)
        return true
      }
      this.#searched = end
    }
    this.#searched = Math.max(this.#searched, bytes.length - ITEMS.length)
    return false
  }

  /** By the piece, so that a text is never much longer than it: 512 KB at a time took 19,000 page faults, 64 KB 12,000. */
  #takeItems(): readonly Stored<T>[] {
    const taken: KubeObject[] = []
    let start = START
    for (let size = this.#enough; this.#length - start >= size; size = ENOUGH) {
      const found = this.#cut(start, start + size)
      if (!found) return this.#fail()
      if (found.comma < 0) {
        // A very long item: it is not looked through again for every chunk of it.
        this.#drop(start - START)
        this.#enough = 2 * size
        return this.#fitted(taken)
      }
      for (const item of found.items) taken.push(item)
      start = found.comma + 1
    }
    this.#drop(start - START)
    this.#enough = ENOUGH
    return this.#fitted(taken)
  }

  /** The items from `start` to the last comma between two before `end`; −1 if there is none. Undefined if they are not JSON. */
  #cut(start: number, end: number): { readonly items: readonly KubeObject[]; readonly comma: number } | undefined {
    const piece = this.#bytes.subarray(start, end)
    this.#seam ??= seamBefore(piece)
    const seam = this.#seam ? piece.lastIndexOf(this.#seam) : -1
    const items = seam < 0 ? undefined : this.#parse(start, start + seam + 1)
    if (items) return { items, comma: start + seam + 1 }
    // The seam was not between two items but within one, or there is none.
    const comma = lastElementComma(piece)
    const counted = comma < 0 ? [] : this.#parse(start, start + comma)
    return counted && { items: counted, comma: comma < 0 ? comma : start + comma }
  }

  /**
   * The items between two commas, in whose places brackets are put while the bytes become a text: brackets around the
   * text would be a second text, and as much garbage again.
   */
  #parse(start: number, comma: number): readonly KubeObject[] | undefined {
    const bytes = this.#bytes
    const [before = 0, after = 0] = [bytes[start - 1], bytes[comma]]
    bytes[start - 1] = OPEN_BRACKET
    bytes[comma] = CLOSE_BRACKET
    const text = bytes.toString('utf8', start - 1, comma + 1)
    bytes[start - 1] = before
    bytes[comma] = after
    return this.#cutter ? this.#cutter.parse(text) : (parseJson(text) as readonly KubeObject[] | undefined)
  }

  #fitted(items: readonly KubeObject[]): readonly Stored<T>[] {
    return items.map((item) => this.#fit(item)) as Stored<T>[]
  }

  #fail(): readonly Stored<T>[] {
    this.#bytes = Buffer.alloc(0)
    this.#failure = unreadableList(this.#kind)
    return []
  }
}

export function unreadableList(kind: Kind, cause?: unknown): ConnectionError {
  return new ConnectionError(
    'TENURE_LIST_UNREADABLE',
    `The list of ${kindKey(kind)} is not one, or was cut short: something between here and the API server changed it.`,
    { cause },
  )
}

/** Undefined if the first item has no beginning to know the others by. */
function seamBefore(items: Buffer): Buffer | undefined {
  const opening = openingOf(items)
  return opening && Buffer.concat([BETWEEN, opening])
}
