/** How a value is written: the lowest three bits of its field's tag. */
const [VARINT, FIXED_64, DELIMITED, FIXED_32] = [0, 1, 2, 5]

/** The tag of a field that holds a number or a truth value. */
export const varint = (field: number): number => field * 8 + VARINT
/** The tag of a field that holds a text, bytes or a message. */
export const delimited = (field: number): number => field * 8 + DELIMITED

/** The bytes are not what they should be. Whoever reads them makes a failure of its own out of it. */
export class MalformedProtobuf extends Error {}

/** A Buffer with what its `toString` calls in the end, which spares short texts most of their time. */
export interface Bytes extends Buffer {
  utf8Slice(from: number, to: number): string
}

/** The largest number in two bytes: what runs for every item reads tags and lengths up to it in place. */
export const LONGEST_IN_PLACE = 128 * 128 - 1
/** In bytes, of which each has seven bits of a number. */
const LONGEST_VARINT = 10
/** Numbers up to this long are exact, and have no sign. */
const LONGEST_EXACT = 7

/**
 * Reads the wire format of protobuf, in which a message is fields, each a tag and a value: `while (reader.next(end))`
 * look at the tag, and take the value or leave it.
 */
export class ProtobufReader {
  bytes: Bytes
  /** Where the next field begins. */
  at = 0
  tag = 0
  /** Where the field's value begins. */
  from = 0
  /** Where it ends. */
  to = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes as Bytes
  }

  /** On to the next field of a message that ends at `end`. False: it has no more. */
  next(end: number): boolean {
    if (this.at >= end) return false
    this.look()
    if (this.to > end) throw new MalformedProtobuf('a field is longer than what it is in')
    this.at = this.to
    return true
  }

  /** What the next field is, without going on to it: it may end beyond the bytes that are there. */
  look(): void {
    this.from = this.at
    this.tag = this.#varint()
    switch (this.tag % 8) {
      case VARINT: {
        const { from } = this
        this.#varint()
        this.to = this.from
        this.from = from
        break
      }
      case FIXED_64:
        this.to = this.from + 8
        break
      case DELIMITED: {
        const length = this.#varint()
        this.to = this.from + length
        break
      }
      case FIXED_32:
        this.to = this.from + 4
        break
      default:
        throw new MalformedProtobuf('a field is of no known type')
    }
  }

  /** Into the field, which is a message. Says where it ends. */
  enter(): number {
    this.at = this.from
    return this.to
  }

  text(): string {
    return this.bytes.utf8Slice(this.from, this.to)
  }

  integer(): number {
    if (this.to - this.from <= LONGEST_EXACT) {
      let value = 0
      for (let at = this.to - 1; at >= this.from; at--) value = value * 128 + ((this.bytes[at] ?? 0) % 128)
      return value
    }
    let value = 0n
    for (let at = this.to - 1; at >= this.from; at--) value = value * 128n + BigInt((this.bytes[at] ?? 0) % 128)
    // The sign is the first of 64 bits.
    return Number(BigInt.asIntN(64, value))
  }

  /** A tag or a length. One that is too large to be exact is too large for anything. */
  #varint(): number {
    let value = 0
    let scale = 1
    for (let count = 0; count < LONGEST_VARINT; count++) {
      const byte = this.bytes[this.from++]
      if (byte === undefined) break
      value += (byte % 128) * scale
      if (byte < 128) return value
      scale *= 128
    }
    throw new MalformedProtobuf('a number has no end')
  }
}

/** What every message of a Kubernetes API begins with. The rest is a `runtime.Unknown`, with the object in it. */
export const MAGIC = Buffer.from('k8s\0')
