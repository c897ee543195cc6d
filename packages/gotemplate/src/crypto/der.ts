/** ASN.1 in DER. */

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(tag), lengthBytes(body.length), body])
}

function lengthBytes(length: number): Buffer {
  if (length < 128) return Buffer.of(length)
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.of(128 + bytes.length, ...bytes)
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => der(0x30, ...items)
export const set = (...items: readonly Uint8Array[]): Buffer => der(0x31, ...items)
export const octets = (content: Uint8Array): Buffer => der(0x04, content)
export const bitString = (content: Uint8Array, unusedBits = 0): Buffer => der(0x03, Buffer.of(unusedBits), content)
export const TRUE = der(0x01, Buffer.of(0xff))
export const NULL = der(0x05)

export function integer(value: bigint | Uint8Array): Buffer {
  const hex = typeof value === 'bigint' ? value.toString(16) : Buffer.from(value).toString('hex')
  let bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  while (bytes.length > 1 && bytes[0] === 0 && (bytes[1] ?? 0) < 128) bytes = bytes.subarray(1)
  return der(0x02, (bytes[0] ?? 0) >= 128 ? Buffer.concat([Buffer.of(0), bytes]) : bytes)
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 127]
    for (let high = part >>> 7; high > 0; high >>>= 7) groups.unshift((high & 127) | 128)
    bytes.push(...groups)
  }
  return der(0x06, Buffer.from(bytes))
}

/** Printable where possible, else UTF-8. */
export function directoryString(text: string): Buffer {
  return /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text) ? der(0x13, Buffer.from(text)) : der(0x0c, Buffer.from(text))
}

/** Two digits for the year up to 2049, four after. */
export function time(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  const year = Number(text.slice(0, 4))
  return year >= 1950 && year < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}

export interface DerElement {
  readonly tag: number
  readonly content: Buffer
  /** With tag and length. */
  readonly whole: Buffer
}

/** Splits the elements of a DER text; throws a RangeError if it is malformed. */
export function readDer(bytes: Buffer): readonly DerElement[] {
  const elements: DerElement[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0
    let length = bytes[at + 1] ?? 0
    let start = at + 2
    if (length >= 128) {
      const count = length - 128
      length = count === 0 ? 0 : bytes.readUIntBE(start, Math.min(count, 6))
      start += count
    }
    const end = start + length
    if (end > bytes.length) throw new RangeError('The DER element is longer than its text.')
    elements.push({ tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) })
    at = end
  }
  return elements
}

export function pem(type: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`
}

/** The first PEM block; undefined if there is none. */
export function readPem(text: string): { readonly type: string; readonly bytes: Buffer } | undefined {
  const match = /-----BEGIN ([^\n]*?)-----[ \t]*\r?\n([\s\S]*?)\r?\n?-----END \1-----/.exec(text)
  if (!match) return undefined
  const body = (match[2] ?? '').replace(/^(?:[^\n]*:[^\n]*\n)+\n/, '')
  if (!/^[A-Za-z0-9+/=\s]*$/.test(body)) return undefined
  return { type: match[1] ?? '', bytes: Buffer.from(body, 'base64') }
}
