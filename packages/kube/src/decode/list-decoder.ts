import type { ResponseDecoder } from '../transport/response-stream.ts'
import { ConnectionError } from '../errors/errors.ts'
import { itemFitterFor } from '../model/representation.ts'
import { lastElementComma, openingOf } from './json-items.ts'
import { kindKey } from '../model/kind.ts'
import type { Kind } from '../model/kind.ts'
import { ManagedFieldsCutter, parseJson } from './managed-fields-cutter.ts'
import type { KubeObject, ListMeta, Stored } from '../model/object.ts'

/** Bytes of items per JSON.parse. Longer texts are not faster and take more memory: 64 KB takes about 4 MB of RSS. */
const PARSE_BYTES = 32 * 1024
/** The start of the items. A list that is formatted differently is parsed when it is complete. */
const ITEMS = Buffer.from('"items":[')
const BETWEEN = Buffer.from('},')
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d]
/** The offset of the first byte: the place before it is for a bracket. */
const START = 1

interface Envelope {
  readonly items?: readonly KubeObject[] | null
  readonly metadata?: ListMeta
}

/**
 * Decodes the items of a JSON list while it arrives. The decoder cuts the text where the opening of the first item occurs
 * again, and JSON.parse verifies the cut: only complete items parse as an array. If the cut is wrong, the decoder counts
 * brackets, which is slower.
 */
export class ListDecoder<T extends KubeObject> implements ResponseDecoder<Stored<T>> {
  readonly #kind: Kind<T>
  readonly #fit: (item: KubeObject) => KubeObject
  /** Undefined: all managedFields are needed. */
  readonly #cutter: ManagedFieldsCutter | undefined
  #bytes: Buffer = Buffer.allocUnsafeSlow(4 * PARSE_BYTES)
  /** The end of the bytes. */
  #length = START
  /** The bytes before the items; undefined until the items start. */
  #head: Buffer | undefined
  /** How far the start of the items was searched for. */
  #searched = 0
  /** The end of an item and the opening of the next; undefined until the first item has arrived. */
  #seam: Buffer | undefined
  /** The number of bytes that must have arrived before the next parse. */
  #parseBytes = PARSE_BYTES
  #failure: Error | undefined
  #metadata: ListMeta | undefined

  /** `managedFieldsOf` are the managers whose entries are needed. Default: all. */
  constructor(kind: Kind<T>, managedFieldsOf?: readonly string[]) {
    this.#kind = kind
    this.#fit = itemFitterFor(kind)
    this.#cutter = managedFieldsOf && new ManagedFieldsCutter(managedFieldsOf)
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  /** The metadata of the list, after its successful end. */
  get metadata(): ListMeta | undefined {
    return this.#metadata
  }

  push(chunk: Uint8Array): readonly Stored<T>[] {
    if (this.#failure) return []
    this.#add(chunk)
    if (!this.#head && !this.#findItems()) return []
    return this.#length - START >= this.#parseBytes ? this.#takeItems() : []
  }

  /** The remaining bytes, after the bytes before the items, form a list of the last items. */
  end(): readonly Stored<T>[] {
    if (this.#failure) return []
    const left = this.#bytes.subarray(START, this.#length)
    const list = parseJson((this.#head ? Buffer.concat([this.#head, left]) : left).toString('utf8')) as
      | Envelope
      | undefined
    // Some servers send `items: null` for an empty list. A response without `items` is not a list: treated as an empty
    // one, it would make every object look deleted.
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
      // The items of the list, not of an object in it.
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

  /** In pieces, to keep texts short: 512 KB at a time took 19,000 page faults, 64 KB 12,000. */
  #takeItems(): readonly Stored<T>[] {
    const taken: KubeObject[] = []
    let start = START
    for (let size = this.#parseBytes; this.#length - start >= size; size = PARSE_BYTES) {
      const found = this.#cut(start, start + size)
      if (!found) return this.#fail()
      if (found.comma < 0) {
        // A very long item: it is not searched again for every chunk.
        this.#drop(start - START)
        this.#parseBytes = 2 * size
        return this.#fitted(taken)
      }
      for (const item of found.items) taken.push(item)
      start = found.comma + 1
    }
    this.#drop(start - START)
    this.#parseBytes = PARSE_BYTES
    return this.#fitted(taken)
  }

  /** The items from `start` to the last comma between two items before `end`; −1 if there is none. Undefined if not JSON. */
  #cut(start: number, end: number): { readonly items: readonly KubeObject[]; readonly comma: number } | undefined {
    const piece = this.#bytes.subarray(start, end)
    this.#seam ??= seamBefore(piece)
    const seam = this.#seam ? piece.lastIndexOf(this.#seam) : -1
    const items = seam < 0 ? undefined : this.#parse(start, start + seam + 1)
    if (items) return { items, comma: start + seam + 1 }
    // The seam was inside an item, or there is none.
    const comma = lastElementComma(piece)
    const counted = comma < 0 ? [] : this.#parse(start, start + comma)
    return counted && { items: counted, comma: comma < 0 ? comma : start + comma }
  }

  /**
   * Parses the items between two commas. Brackets replace the commas while the bytes are converted to a string: adding
   * them to the string would double the garbage.
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
    `The response is not a complete list of ${kindKey(kind)}: check for a proxy that changes or cuts responses.`,
    { cause },
  )
}

/** Undefined if the first item has no opening that identifies the others. */
function seamBefore(items: Buffer): Buffer | undefined {
  const opening = openingOf(items)
  return opening && Buffer.concat([BETWEEN, opening])
}
