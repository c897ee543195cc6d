import type { ResponseDecoder } from '../transport/response-stream.ts'
import type { Kind } from '../model/kind.ts'
import { unreadableList } from './list-decoder.ts'
import type { KubeObject, ListMeta, ObjectMeta, Stored } from '../model/object.ts'
import { givenInteger, message, readMessage, text } from './protobuf/message.ts'
import { ObjectMetaReader } from './protobuf/object-meta.ts'
import { type Bytes, delimited, MAX_IN_PLACE, MAGIC, MalformedProtobuf, ProtobufReader } from './protobuf/reader.ts'

/** Bytes that are decoded at a time, so that the buffer stays small and is reused. */
const STEP_BYTES = 32 * 1024
/** Maximum length of a field's tag and length together. */
const MAX_HEADER_BYTES = 20
/** 64 MiB, as for a watch event: far above any stored object, and a bound for an endless response. */
const MAX_FIELD_BYTES = 64 * 1024 * 1024

const NO_BYTES = Buffer.alloc(0) as Bytes

/** The list in its `runtime.Unknown` envelope. */
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

/** Decodes the items of a PartialObjectMetadataList in protobuf while it arrives. */
export class MetadataListDecoder<T extends KubeObject> implements ResponseDecoder<Stored<T>> {
  readonly #kind: Kind<T>
  readonly #objectMeta: ObjectMetaReader
  readonly #reader = new ProtobufReader(Buffer.allocUnsafeSlow(2 * STEP_BYTES))
  /** The number of bytes in the reader's buffer. The reader is at the first byte that is not decoded. */
  #length = 0
  #stage: 'magic' | 'envelope' | 'list' | 'rest' = 'magic'
  /** The end of the list as an offset in the reader's buffer, often far beyond the bytes that have arrived. */
  #listEnd = Infinity
  #listMeta: ListMeta | undefined
  #metadata: ListMeta | undefined
  #failure: Error | undefined

  /** `managedFieldsOf` are the managers whose entries are needed. Default: all. */
  constructor(kind: Kind<T>, managedFieldsOf?: readonly string[]) {
    this.#kind = kind
    this.#objectMeta = new ObjectMetaReader(managedFieldsOf)
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  /** The metadata of the list, after its successful end. */
  get metadata(): ListMeta | undefined {
    return this.#metadata
  }

  push(chunk: Uint8Array): readonly Stored<T>[] {
    const items: Stored<T>[] = []
    for (let at = 0; at < chunk.length && !this.#failure; at += STEP_BYTES) {
      this.#add(chunk.subarray(at, at + STEP_BYTES))
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

  /** Decodes the complete items and keeps the rest. */
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
   * Reads complete items that contain only metadata, with lengths of at most two bytes: nearly all items. `#readField`
   * reads the others.
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
      const isPlain = length <= MAX_IN_PLACE && bytes[from] === ITEM_METADATA && metadataFrom + metadataLength === to
      if (to > end || !isPlain) return
      reader.at = metadataFrom
      items.push({ apiVersion, kind, metadata: this.#objectMeta.read(reader, to) } as Stored<T>)
    }
  }

  /** False if the next field has not arrived completely. */
  #readField(items: Stored<T>[], isWhole: boolean): boolean {
    const reader = this.#reader
    if (this.#stage === 'magic' && !this.#readMagic()) return false
    const { at } = reader
    if (at === this.#listEnd) this.#stage = 'rest'
    const limit = this.#stage === 'list' ? this.#listEnd : Infinity
    const there = this.#length - at
    if (there <= 0 || (there < MAX_HEADER_BYTES && this.#length < limit && !isWhole)) return false
    reader.look()
    const { tag, to } = reader
    if (tag === RAW && this.#stage === 'envelope') {
      this.#stage = 'list'
      this.#listEnd = to
      reader.enter()
      return true
    }
    if (to > limit || to - at > MAX_FIELD_BYTES) throw new MalformedProtobuf('A field is too long')
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
    if (!this.#reader.bytes.subarray(0, MAGIC.length).equals(MAGIC))
      throw new MalformedProtobuf('The response is not Kubernetes protobuf')
    this.#reader.at = MAGIC.length
    this.#stage = 'envelope'
    return true
  }

  #readItem(end: number): Stored<T> {
    const reader = this.#reader
    let metadata: ObjectMeta | undefined
    while (reader.next(end)) if (reader.tag === ITEM_METADATA) metadata = this.#objectMeta.read(reader, reader.enter())
    if (!metadata) throw new MalformedProtobuf('An item has no metadata')
    return { apiVersion: this.#kind.apiVersion, kind: this.#kind.kind, metadata } as Stored<T>
  }

  #fail(cause?: unknown): readonly Stored<T>[] {
    this.#reader.bytes = NO_BYTES
    this.#failure = unreadableList(this.#kind, cause)
    return []
  }
}
