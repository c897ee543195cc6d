import { badRequest, StatusError } from '../../errors.ts'
import { MAX_STORED_BYTES, tooLargeToStore } from '../../model/object-size.ts'
import { MESSAGES } from './generated/protobuf.ts'

/**
 * Request bodies as Protocol Buffers, which kubectl and client-go send for built-in kinds whatever the server accepts.
 * They are converted to JSON; responses are always JSON, which these clients accept as well.
 */

interface Field {
  readonly name: string
  /** Zero is meaningful: the field is always sent, or only if it was set. */
  readonly keepsZero: boolean
  readonly type: string
}

type Message = ReadonlyMap<number, Field>

const MAGIC = 'k8s\u0000'
const MAX_MESSAGE_DEPTH = 200
let lines: ReadonlyMap<string, string> | undefined
const messages = new Map<string, Message>()

/** The JSON of a body. Throws a 400 if it cannot be decoded. */
export function jsonFromProtobuf(body: Buffer): string {
  try {
    if (body.toString('latin1', 0, 4) !== MAGIC)
      throw new Error('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
    const envelope = new Reader(body.subarray(4))
    let apiVersion = ''
    let kind = ''
    let raw: Buffer = Buffer.alloc(0)
    for (let tag = envelope.tag(); tag; tag = envelope.tag()) {
      if (tag.number === 1) ({ apiVersion, kind } = typeMeta(envelope.bytes()))
      else if (tag.number === 2) raw = envelope.bytes()
      else envelope.skip(tag.wire)
    }
    bytesLeft = MAX_STORED_BYTES
    const message = messageNamed(nameOf(apiVersion, kind))
    if (!message) throw new Error(`no kind "${kind}" is registered for version "${apiVersion}"`)
    return JSON.stringify({ kind, apiVersion, ...readMessage(new Reader(raw), message, 0) })
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw badRequest(error instanceof Error ? error.message : String(error))
  }
}

/** The least bytes of an item in JSON: a character and a separator. */
const MIN_ITEM_BYTES = 2
/** The bytes that are left for the JSON of this body. It is read without interruption. */
let bytesLeft = 0

/** An item takes two bytes in protobuf and much more work and memory: what cannot be stored is not read to the end. */
function countItem(): void {
  bytesLeft -= MIN_ITEM_BYTES
  if (bytesLeft < 0) throw tooLargeToStore()
}

function typeMeta(bytes: Buffer): { apiVersion: string; kind: string } {
  const reader = new Reader(bytes)
  const result = { apiVersion: '', kind: '' }
  for (let tag = reader.tag(); tag; tag = reader.tag()) {
    if (tag.number === 1) result.apiVersion = reader.bytes().toString()
    else if (tag.number === 2) result.kind = reader.bytes().toString()
    else reader.skip(tag.wire)
  }
  return result
}

/** `rbac.authorization.k8s.io/v1` is in the package `rbac/v1`, `v1` in `core/v1`. */
function nameOf(apiVersion: string, kind: string): string {
  if (kind === 'DeleteOptions') return 'meta/v1.DeleteOptions'
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? 'core' : (apiVersion.slice(0, slash).split('.')[0] ?? '')
  return `${group}/${apiVersion.slice(slash + 1)}.${kind}`
}

function messageNamed(name: string): Message | undefined {
  const known = messages.get(name)
  if (known) return known
  lines ??= new Map(
    MESSAGES.split('\n').map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  )
  const line = lines.get(name)
  if (line === undefined) return undefined
  const message = new Map(
    line.split(' ').map((part): [number, Field] => {
      const [, number = '', mark = '', field = '', type = ''] = /^(\d+)([!:])([^:]*):(.*)$/.exec(part) ?? []
      return [Number(number), { name: field, keepsZero: mark === '!', type }]
    }),
  )
  messages.set(name, message)
  return message
}

type Json = Record<string, unknown>

function readMessage(reader: Reader, message: Message, depth: number): Json {
  if (depth > MAX_MESSAGE_DEPTH) throw new Error('exceeded max depth')
  // Without a prototype, so that `__proto__` can be a key of a map.
  const result = Object.create(null) as Json
  for (let tag = reader.tag(); tag; tag = reader.tag()) {
    const field = message.get(tag.number)
    if (!field) reader.skip(tag.wire)
    else readField(reader, field, tag.wire, result, depth)
  }
  return result
}

function readField(reader: Reader, field: Field, wire: number, into: Json, depth: number): void {
  const { name, type, keepsZero } = field
  if (type.startsWith('[')) {
    const list = (into[name] ??= []) as unknown[]
    for (const item of readItems(reader, type.slice(1), wire, depth)) list.push(item)
    countItem()
    return
  }
  if (type.startsWith('{')) {
    const map = (into[name] ??= Object.create(null)) as Json
    countItem()
    const [key, value] = readEntry(reader, type.slice(1), depth)
    map[key] = value
    return
  }
  const value = readValue(reader, type, wire, depth)
  if (name === '') Object.assign(into, value)
  else if (value !== undefined && (keepsZero || !isZero(value))) into[name] = value
}

/** Numbers may be packed. */
function readItems(reader: Reader, type: string, wire: number, depth: number): readonly unknown[] {
  if ((type === 'i' || type === 'b') && wire === 2) {
    const packed = new Reader(reader.bytes())
    const items: unknown[] = []
    while (!packed.isAtEnd) {
      countItem()
      items.push(readValue(packed, type, 0, depth))
    }
    return items
  }
  return [readValue(reader, type, wire, depth)]
}

function readEntry(reader: Reader, type: string, depth: number): [string, unknown] {
  const entry = new Reader(reader.bytes())
  let key = ''
  let value: unknown
  for (let tag = entry.tag(); tag; tag = entry.tag()) {
    if (tag.number === 1) key = entry.bytes().toString()
    else if (tag.number === 2) value = readValue(entry, type, tag.wire, depth + 1)
    else entry.skip(tag.wire)
  }
  return [key, value ?? (type === 's' || type === 'y' ? '' : null)]
}

function readValue(reader: Reader, type: string, wire: number, depth: number): unknown {
  switch (type.charAt(0)) {
    case 's':
      return reader.bytes().toString()
    case 'y':
      return reader.bytes().toString('base64')
    case 'i':
      return Number(BigInt.asIntN(64, reader.varint()))
    case 'b':
      return reader.varint() !== 0n
    case 'd':
      return reader.double()
    case 'm': {
      const message = messageNamed(type.slice(1))
      return readMessage(new Reader(reader.bytes()), message ?? new Map(), depth + 1)
    }
    case 'E': {
      const items = readMessage(
        new Reader(reader.bytes()),
        new Map([[1, { name: 'items', keepsZero: true, type: `[${type.slice(1)}` }]]),
        depth + 1,
      )
      return items['items'] ?? []
    }
    case 'R': {
      const { raw } = readMessage(new Reader(reader.bytes()), RAW, depth + 1)
      return typeof raw === 'string' && raw !== '' ? (JSON.parse(raw) as unknown) : undefined
    }
    case 'Q':
      return readMessage(new Reader(reader.bytes()), QUANTITY, depth + 1)['string'] ?? '0'
    case 'I': {
      const { type: kind, intVal = 0, strVal = '' } = readMessage(new Reader(reader.bytes()), INT_OR_STRING, depth + 1)
      return kind === 1 ? strVal : intVal
    }
    case 'A': {
      const { schema, schemas } = readMessage(new Reader(reader.bytes()), SCHEMA_OR_ARRAY, depth + 1)
      return schemas ?? schema ?? null
    }
    case 'B': {
      const { schema, allows = false } = readMessage(new Reader(reader.bytes()), SCHEMA_OR_BOOL, depth + 1)
      return schema ?? allows
    }
    case 'P': {
      const { schema, property } = readMessage(new Reader(reader.bytes()), SCHEMA_OR_STRINGS, depth + 1)
      return property ?? schema ?? null
    }
    case 'T':
    case 'U':
      return readTime(readMessage(new Reader(reader.bytes()), TIME, depth + 1), type === 'U')
    case 'D': {
      const { duration = 0 } = readMessage(new Reader(reader.bytes()), DURATION, depth + 1)
      return `${Number(duration) / 1e9}s`
    }
    default:
      reader.skip(wire)
      return undefined
  }
}

const fields = (...of: readonly (readonly [string, string])[]): Message =>
  new Map(of.map(([name, type], index) => [index + 1, { name, type, keepsZero: true }]))
const RAW = fields(['raw', 's'])
const QUANTITY = fields(['string', 's'])
const INT_OR_STRING = fields(['type', 'i'], ['intVal', 'i'], ['strVal', 's'])
const TIME = fields(['seconds', 'i'], ['nanos', 'i'])
const DURATION = fields(['duration', 'i'])
const SCHEMA = 'mapiextensions/v1.JSONSchemaProps'
const SCHEMA_OR_ARRAY = fields(['schema', SCHEMA], ['schemas', `[${SCHEMA}`])
const SCHEMA_OR_BOOL = fields(['allows', 'b'], ['schema', SCHEMA])
const SCHEMA_OR_STRINGS = fields(['schema', SCHEMA], ['property', '[s'])

function readTime({ seconds, nanos = 0 }: Json, isMicro: boolean): string | undefined {
  if (typeof seconds !== 'number') return undefined
  const text = new Date(seconds * 1000).toISOString().slice(0, 19)
  const micros = Math.floor(Number(nanos) / 1000)
  return isMicro ? `${text}.${String(micros).padStart(6, '0')}Z` : `${text}Z`
}

function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** Reads the wire format. Throws if it is truncated. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  tag(): { readonly number: number; readonly wire: number } | undefined {
    if (this.isAtEnd) return undefined
    const value = this.#small()
    return { number: Math.floor(value / 8), wire: value % 8 }
  }

  /** A tag or length. Most have one or two bytes, for which BigInt would be slow. */
  #small(): number {
    const first = this.#bytes[this.#at] ?? 0x80
    if (first < 0x80) {
      this.#at++
      return first
    }
    const second = this.#bytes[this.#at + 1] ?? 0x80
    if (second >= 0x80) return Number(this.varint())
    this.#at += 2
    return (first & 0x7f) | (second << 7)
  }

  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new Error('unexpected EOF')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new Error('proto: integer overflow')
  }

  bytes(): Buffer {
    const length = this.#small()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new Error('unexpected EOF')
    const result = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return result
  }

  double(): number {
    if (this.#at + 8 > this.#bytes.length) throw new Error('unexpected EOF')
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  skip(wire: number): void {
    if (wire === 0) this.varint()
    else if (wire === 1) this.#at += 8
    else if (wire === 2) this.bytes()
    else if (wire === 5) this.#at += 4
    else throw new Error(`proto: illegal wireType ${wire}`)
  }
}
