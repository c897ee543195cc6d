import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../model/object.ts'
import { type Message, message, own, readMessage, text } from './message.ts'
import { type Bytes, delimited, MAX_IN_PLACE, type ProtobufReader, varint } from './reader.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Texts = Record<string, string>

const NAME = delimited(1)
const GENERATE_NAME = delimited(2)
const NAMESPACE = delimited(3)
const SELF_LINK = delimited(4)
const UID = delimited(5)
const RESOURCE_VERSION = delimited(6)
const GENERATION = varint(7)
const CREATION_TIMESTAMP = delimited(8)
const DELETION_TIMESTAMP = delimited(9)
const DELETION_GRACE_PERIOD = varint(10)
const LABELS = delimited(11)
const ANNOTATIONS = delimited(12)
const OWNER_REFERENCES = delimited(13)
const FINALIZERS = delimited(14)
const MANAGED_FIELDS = delimited(17)

const OWNER_KIND = delimited(1)
const OWNER_NAME = delimited(3)
const OWNER_UID = delimited(4)
const OWNER_API_VERSION = delimited(5)
const OWNER_CONTROLS = varint(6)
const OWNER_BLOCKS_DELETION = varint(7)

const [KEY, VALUE] = [delimited(1), delimited(2)]
const SECONDS = varint(1)
/** Slots for strings that often repeat from one object to the next. From the last slot on, keys and values alternate. */
const [GENERATE_NAME_PLACE, NAMESPACE_PLACE, OWNER_KIND_PLACE, OWNER_API_VERSION_PLACE, MAP_PLACE] = [0, 1, 2, 3, 4]
const OWN_PROPERTY = { configurable: true, enumerable: true, writable: true }

/** Reads metav1.ObjectMeta into the value that its JSON would give, without empty fields. Made for long lists of similar objects. */
export class ObjectMetaReader {
  /** Undefined: all managers. */
  readonly #managers: readonly string[] | undefined
  readonly #managedFields: Message
  /** The last string in each slot. Equal strings share memory. */
  readonly #last: string[] = []
  #second = Number.NaN
  #time = ''

  /** `managedFieldsOf` are the managers whose entries are read; undefined: all. */
  constructor(managedFieldsOf: readonly string[] | undefined) {
    this.#managers = managedFieldsOf
    this.#managedFields = message(
      text(1, 'manager'),
      text(2, 'operation'),
      text(3, 'apiVersion'),
      own(4, 'time', (reader) => this.#readTime(reader) || undefined),
      text(6, 'fieldsType'),
      own(7, 'fieldsV1', readFields),
      text(8, 'subresource'),
    )
  }

  /**
   * One long function that reads tags and lengths inline. It runs for milliseconds at startup, when V8 spends more time on
   * compiling each function than on running it: for 10,000 objects, smaller functions took 57 ms of CPU, this one 37.
   */
  read(reader: ProtobufReader, end: number): ObjectMeta {
    const { bytes } = reader
    const skipsManagedFields = this.#managers?.length === 0
    let name = ''
    let generateName = ''
    let namespace = ''
    let uid = ''
    let resourceVersion = ''
    let generation = 0
    let creationTimestamp = ''
    let labels: Texts | undefined
    let annotations: Texts | undefined
    let others: Writable<ObjectMeta> | undefined
    let place = MAP_PLACE
    let at = reader.at
    while (at < end) {
      let from = at + 1
      let tag = bytes[at] ?? 0
      if (tag > 127) tag += ((bytes[from++] ?? 0) - 1) * 128
      let length = bytes[from++] ?? 0
      if (length > 127) length += ((bytes[from++] ?? 0) - 1) * 128
      let to = from + length
      if (tag > MAX_IN_PLACE || length > MAX_IN_PLACE || to > end) {
        reader.at = at
        reader.next(end)
        ;({ tag, from, to } = reader)
      }
      switch (tag) {
        case NAME:
          name = bytes.utf8Slice(from, to)
          break
        case GENERATE_NAME:
          if (length > 0) generateName = this.#textAt(bytes, from, to, GENERATE_NAME_PLACE)
          break
        case NAMESPACE:
          namespace = this.#textAt(bytes, from, to, NAMESPACE_PLACE)
          break
        case UID:
          uid = bytes.utf8Slice(from, to)
          break
        case RESOURCE_VERSION:
          resourceVersion = bytes.utf8Slice(from, to)
          break
        case CREATION_TIMESTAMP:
          creationTimestamp = this.#timeAt(reader, from, to)
          break
        case LABELS:
          this.#readEntry(reader, from, to, place, (labels ??= {}))
          place += 2
          break
        case ANNOTATIONS:
          this.#readEntry(reader, from, to, place, (annotations ??= {}))
          place += 2
          break
        case GENERATION:
          if (length === 0) break
          reader.at = at
          reader.next(end)
          generation = reader.integer()
          to = reader.to
          break
        default:
          if (tag === MANAGED_FIELDS && skipsManagedFields) break
          if (tag === SELF_LINK && length === 0) break
          reader.at = at
          reader.next(end)
          others = this.#readOther(reader, others)
          to = reader.at
      }
      at = to
    }
    reader.at = end
    const metadata: Writable<ObjectMeta> = labels
      ? { name, namespace, uid, resourceVersion, creationTimestamp, labels }
      : { name, namespace, uid, resourceVersion, creationTimestamp }
    if (generateName) metadata.generateName = generateName
    if (generation) metadata.generation = generation
    if (annotations) metadata.annotations = annotations
    if (others) Object.assign(metadata, others)
    return name && namespace && uid && resourceVersion && creationTimestamp ? metadata : withoutEmpty(metadata)
  }

  /** Fields that few objects have. */
  #readOther(reader: ProtobufReader, others: Writable<ObjectMeta> = {}): Writable<ObjectMeta> {
    switch (reader.tag) {
      case SELF_LINK:
        if (reader.from < reader.to) others.selfLink = reader.text()
        break
      case DELETION_TIMESTAMP: {
        const time = this.#readTime(reader)
        if (time) others.deletionTimestamp = time
        break
      }
      case DELETION_GRACE_PERIOD:
        others.deletionGracePeriodSeconds = reader.integer()
        break
      case OWNER_REFERENCES:
        others.ownerReferences = withOneMore(others.ownerReferences, this.#readOwner(reader))
        break
      case FINALIZERS:
        others.finalizers = withOneMore(others.finalizers, reader.text())
        break
      case MANAGED_FIELDS: {
        const entry = this.#readManagedFields(reader)
        if (entry) others.managedFields = withOneMore(others.managedFields, entry)
        break
      }
      default:
    }
    return others
  }

  #readOwner(reader: ProtobufReader): OwnerReference {
    let [apiVersion, kind, name, uid] = ['', '', '', '']
    let controller: boolean | undefined
    let blockOwnerDeletion: boolean | undefined
    const end = reader.enter()
    while (reader.next(end)) {
      const { bytes, tag, from, to } = reader
      if (tag === OWNER_KIND) kind = this.#textAt(bytes, from, to, OWNER_KIND_PLACE)
      else if (tag === OWNER_NAME) name = reader.text()
      else if (tag === OWNER_UID) uid = reader.text()
      else if (tag === OWNER_API_VERSION) apiVersion = this.#textAt(bytes, from, to, OWNER_API_VERSION_PLACE)
      else if (tag === OWNER_CONTROLS) controller = reader.integer() !== 0
      else if (tag === OWNER_BLOCKS_DELETION) blockOwnerDeletion = reader.integer() !== 0
    }
    // Nearly all entries have these fields; adding them one by one takes more memory.
    if (controller !== undefined && blockOwnerDeletion !== undefined) {
      return { apiVersion, kind, name, uid, controller, blockOwnerDeletion }
    }
    const owner: Writable<OwnerReference> = { apiVersion, kind, name, uid }
    if (controller !== undefined) owner.controller = controller
    if (blockOwnerDeletion !== undefined) owner.blockOwnerDeletion = blockOwnerDeletion
    return owner
  }

  /** A key and its value. */
  #readEntry(reader: ProtobufReader, from: number, to: number, place: number, map: Texts): void {
    const { bytes } = reader
    const keyEnd = from + 2 + (bytes[from + 1] ?? 0)
    const isPlain = to - from < 128 && bytes[from] === KEY && bytes[keyEnd] === VALUE
    let key = ''
    let value = ''
    if (isPlain && keyEnd + 2 + (bytes[keyEnd + 1] ?? 0) === to) {
      key = this.#textAt(bytes, from + 2, keyEnd, place)
      value = this.#textAt(bytes, keyEnd + 2, to, place + 1)
    } else {
      reader.at = from
      while (reader.next(to)) {
        if (reader.tag === KEY) key = reader.text()
        else if (reader.tag === VALUE) value = reader.text()
      }
    }
    // Plain assignment of `__proto__` would set the prototype.
    if (key === '__proto__') Object.defineProperty(map, key, { ...OWN_PROPERTY, value })
    else map[key] = value
  }

  #textAt(bytes: Bytes, from: number, to: number, place: number): string {
    const last = this.#last[place]
    if (last?.length === to - from) {
      let at = from
      // Only in ASCII does a byte equal its character code.
      for (let byte = 0; at < to; at++) {
        byte = bytes[at] ?? 0
        if (byte > 127 || byte !== last.charCodeAt(at - from)) break
      }
      if (at === to) return last
    }
    return (this.#last[place] = bytes.utf8Slice(from, to))
  }

  #readTime(reader: ProtobufReader): string {
    return this.#timeAt(reader, reader.from, reader.to)
  }

  /** RFC 3339 in whole seconds, empty for none. Cached, because listed objects are often created together. */
  #timeAt(reader: ProtobufReader, from: number, to: number): string {
    if (from === to) return ''
    const second = secondAt(reader, from, to)
    if (second !== this.#second) {
      this.#second = second
      this.#time = new Date(second * 1000).toISOString().replace('.000Z', 'Z')
    }
    return this.#time
  }

  /** Undefined if the entry is not needed. */
  #readManagedFields(reader: ProtobufReader): ManagedFieldsEntry | undefined {
    const { from } = reader
    const end = reader.enter()
    if (this.#managers) {
      const { manager = '' }: ManagedFieldsEntry = readMessage(reader, end, MANAGER)
      if (!this.#managers.includes(manager)) return undefined
      reader.at = from
    }
    return readMessage(reader, end, this.#managedFields)
  }
}

const MANAGER = message(text(1, 'manager'))
const FIELDS_V1 = message(text(1, 'raw'))

/** JSON inside protobuf. */
function readFields(reader: ProtobufReader): unknown {
  const { raw } = readMessage(reader, reader.enter(), FIELDS_V1)
  return typeof raw === 'string' ? JSON.parse(raw) : undefined
}

/** The seconds since 1970 of a metav1.Time. */
function secondAt(reader: ProtobufReader, from: number, to: number): number {
  const { bytes } = reader
  let second = 0
  let scale = 1
  let at = from + 1
  for (; at < to && (bytes[at] ?? 0) > 127; at++) {
    second += ((bytes[at] ?? 0) - 128) * scale
    scale *= 128
  }
  // A positive, exact number of seconds; any fields after it are ignored.
  if (bytes[from] === SECONDS && at < to && at - from < 7) return second + (bytes[at] ?? 0) * scale
  second = 0
  reader.at = from
  while (reader.next(to)) if (reader.tag === SECONDS) second = reader.integer()
  return second
}

/** `concat` keeps the array small: an array that grows by `push` reserves space for many more elements. */
function withOneMore<E>(list: readonly E[] | undefined, element: E): readonly E[] {
  return list ? list.concat([element]) : [element]
}

function withoutEmpty(metadata: ObjectMeta): ObjectMeta {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== ''))
}
