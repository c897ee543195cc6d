import type { AnswerDecoder } from '../transport/response-stream.ts'
import type { Kind } from '../model/kind.ts'
import { unreadableList } from './list-decoder.ts'
import type { KubeObject, ListMeta, ObjectMeta, Stored } from '../model/object.ts'
import { givenInteger, message, readMessage, text } from './protobuf/message.ts'
import { ObjectMetaReader } from './protobuf/object-meta.ts'
import { type Bytes, delimited, LONGEST_IN_PLACE, MAGIC, MalformedProtobuf, ProtobufReader } from './protobuf/reader.ts'

/** Bytes that are decoded at a time, so that their memory is small and used again. */
const STEP = 32 * 1024
/** No field's tag and length are longer together. */
const LONGEST_HEADER = 20
/** 64 MiB, as for an event of a watch: no stored object is nearly as large, and none without an end fills the memory. */
const LONGEST_FIELD = 64 * 1024 * 1024

const NO_BYTES = Buffer.alloc(0) as Bytes

/** Of the `runtime.Unknown` around it: the list. */
const RAW = delimited(2)
const LIST_METADATA = delimited(1)
const ITEM = delimited(2)
const ITEM_METADATA = delimited(1)
const LIST_META = message(
  text(1, 'selfLink'),
  text(2, 'resourceVersion'),
  text(3, 'continue'),
  givenInteger(4, 'remainingItemCount'),
)

/** The bytes of a PartialObjectMetadataList in protobuf as items, long before the list is whole. */
export class MetadataListDecoder<T extends KubeObject> implements AnswerDecoder<Stored<T>> {
  readonly #kind: Kind<T>
  readonly #objectMeta: ObjectMetaReader
  readonly #reader = new ProtobufReader(Buffer.allocUnsafeSlow(2 * STEP))
  /** How many of the reader's bytes are there. It stands at the first that is not decoded. */
  #length = 0
  #stage: 'magic' | 'envelope' | 'list' | 'rest' = 'magic'
  /** Of a list that has begun: where it ends, counted as the reader's bytes are, and perhaps far beyond them. */
  #listEnd = Infinity
  #listMeta: ListMeta | undefined
  #metadata: ListMeta | undefined
  #failure: Error | undefined

  /** `managedFieldsOf` are those whose entries are wanted. Default everybody. */
  constructor(kind: Kind<T>, managedFieldsOf?: readonly string[]) {
    this.#kind = kind
    this.#objectMeta = new ObjectMetaReader(managedFieldsOf)
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  /** The list's own metadata, once the list has ended well. */
  get metadata(): ListMeta | undefined {
    return this.#metadata
  }

  push(chunk: Uint8Array): readonly Stored<T>[] {
    const items: Stored<T>[] = []
    for (let at = 0; at < chunk.length && !this.#failure; at += STEP) {
      this.#add(chunk.subarray(at, at + STEP))
      this.#decode(items, false)
    }
    return this.#failure ? [] : items
  }

  end(): readonly Stored<T>[] {
    const items: Stored<T>[] = []
    if (!this.#failure) this.#decode(items, true)
    if (this.#failure) return []
    if (this.#stage !== 'rest' || this.#length !== 0 || !this.#listMeta) return this.#fail()
    this.#metadata = this.#listMeta
    this.#reader.bytes = NO_BYTES
    return items
  }

  #add(chunk: Uint8Array): void {
    const reader = this.#reader
    const needed = this.#length + chunk.length
    if (needed > reader.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed) as Bytes
      reader.bytes.copy(larger, 0, 0, this.#length)
      reader.bytes = larger
    }
    reader.bytes.set(chunk, this.#length)
    this.#length = needed
  }

  /** Takes the items that are there, and keeps what comes after them. */
  #decode(items: Stored<T>[], isWhole: boolean): void {
    const reader = this.#reader
    try {
      do this.#readItems(items)
      while (this.#readField(items, isWhole))
    } catch (cause) {
      this.#fail(cause)
      return
    }
    reader.bytes.copyWithin(0, reader.at, this.#length)
    this.#length -= reader.at
    this.#listEnd -= reader.at
    reader.at = 0
  }

  /**
   * Items that are there whole and have nothing but metadata, with lengths of up to two bytes: nearly all of them.
   * What else there is, is left to `#readField`.
   */
  #readItems(items: Stored<T>[]): void {
    if (this.#stage !== 'list') return
    const reader = this.#reader
    const { bytes } = reader
    const { apiVersion, kind } = this.#kind
    const end = Math.min(this.#length, this.#listEnd)
    while (bytes[reader.at] === ITEM) {
      let from = reader.at + 2
      let length = bytes[from - 1] ?? 0
      if (length > 127) length += ((bytes[from++] ?? 0) - 1) * 128
      const to = from + length
      let metadataFrom = from + 2
      let metadataLength = bytes[from + 1] ?? 0
      if (metadataLength > 127) metadataLength += ((bytes[metadataFrom++] ?? 0) - 1) * 128
      const isPlain =
        length <= LONGEST_IN_PLACE && bytes[from] === ITEM_METADATA && metadataFrom + metadataLength === to
      if (to > end || !isPlain) return
      reader.at = metadataFrom
      items.push({ apiVersion, kind, metadata: this.#objectMeta.read(reader, to) } as Stored<T>)
    }
  }

  /** False if the next field is not there, or not all of it. */
  #readField(items: Stored<T>[], isWhole: boolean): boolean {
    const reader = this.#reader
    if (this.#stage === 'magic' && !this.#readMagic()) return false
    const { at } = reader
    if (at === this.#listEnd) this.#stage = 'rest'
    const limit = this.#stage === 'list' ? this.#listEnd : Infinity
    const there = this.#length - at
    if (there <= 0 || (there < LONGEST_HEADER && this.#length < limit && !isWhole)) return false
    reader.look()
    const { tag, to } = reader
    if (tag === RAW && this.#stage === 'envelope') {
      this.#stage = 'list'
      this.#listEnd = to
      reader.enter()
      return true
    }
    if (to > limit || to - at > LONGEST_FIELD) throw new MalformedProtobuf('a field is too long')
    if (to > this.#length) return false
    if (this.#stage === 'list') {
      if (tag === ITEM) items.push(this.#readItem(reader.enter()))
      else if (tag === LIST_METADATA)
        this.#listMeta = readMessage(reader, reader.enter(), LIST_META) as unknown as ListMeta
    }
    reader.at = to
    return true
  }

  #readMagic(): boolean {
    if (this.#length < MAGIC.length) return false
    if (!this.#reader.bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new MalformedProtobuf('it is something else')
    this.#reader.at = MAGIC.length
    this.#stage = 'envelope'
    return true
  }

  #readItem(end: number): Stored<T> {
    const reader = this.#reader
    let metadata: ObjectMeta | undefined
    while (reader.next(end)) if (reader.tag === ITEM_METADATA) metadata = this.#objectMeta.read(reader, reader.enter())
    if (!metadata) throw new MalformedProtobuf('an item has no metadata')
    return { apiVersion: this.#kind.apiVersion, kind: this.#kind.kind, metadata } as Stored<T>
  }

  #fail(cause?: unknown): readonly Stored<T>[] {
    this.#reader.bytes = NO_BYTES
    this.#failure = unreadableList(this.#kind, cause)
    return []
  }
}
