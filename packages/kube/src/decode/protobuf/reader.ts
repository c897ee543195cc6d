/** The wire type of a value: the lowest three bits of its field's tag. */
const [VARINT, FIXED_64, DELIMITED, FIXED_32] = [0, 1, 2, 5]

/** The tag of a field with an integer or boolean. */
export const varint = (field: number): number => field * 8 + VARINT
/** The tag of a field with a string, bytes or a message. */
export const delimited = (field: number): number => field * 8 + DELIMITED

/** The bytes are not valid protobuf. The caller wraps this error. */
export class MalformedProtobuf extends Error {}

/** A Buffer with the internal method behind `toString`: calling it directly makes short strings much faster. */
export interface Bytes extends Buffer {
  utf8Slice(from: number, to: number): string
}

/** The largest varint of two bytes: the code that runs for every item reads tags and lengths up to it inline. */
export const MAX_IN_PLACE = 128 * 128 - 1
/** Each byte carries seven bits. */
const MAX_VARINT_BYTES = 10
/** Varints up to this length are exact as a JavaScript number, and not negative. */
const MAX_EXACT_BYTES = 7

/** Reads the protobuf wire format field by field: `while (reader.next(end))` check the tag and read or skip the value. */
export class ProtobufReader {
  bytes: Bytes
  /** The start of the next field. */
  at = 0
  tag = 0
  /** The start of the field's value. */
  from = 0
  /** The end of the field's value. */
  to = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes as Bytes
  }

  /** Moves to the next field of a message that ends at `end`. False: there are no more. */
  next(end: number): boolean {
    if (this.at >= end) return false
    this.look()
    if (this.to > end) throw new MalformedProtobuf('A field is longer than its message')
    this.at = this.to
    return true
  }

  /** Reads the tag and bounds of the next field without moving to it. The field may end beyond the bytes that have arrived. */
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
        throw new MalformedProtobuf('A field has an unknown type')
    }
  }

  /** Enters a field that is a message, and returns its end. */
  enter(): number {
    this.at = this.from
    return this.to
  }

  text(): string {
    return this.bytes.utf8Slice(this.from, this.to)
  }

  integer(): number {
    if (this.to - this.from <= MAX_EXACT_BYTES) {
      let value = 0
      for (let at = this.to - 1; at >= this.from; at--) value = value * 128 + ((this.bytes[at] ?? 0) % 128)
      return value
    }
    let value = 0n
    for (let at = this.to - 1; at >= this.from; at--) value = value * 128n + BigInt((this.bytes[at] ?? 0) % 128)
    // The sign is the first of the 64 bits.
    return Number(BigInt.asIntN(64, value))
  }

  /** Reads a tag or a length. Values beyond 2^53 are invalid anyway, so precision does not matter. */
  #varint(): number {
    let value = 0
    let scale = 1
    for (let count = 0; count < MAX_VARINT_BYTES; count++) {
      const byte = this.bytes[this.from++]
      if (byte === undefined) break
      value += (byte % 128) * scale
      if (byte < 128) return value
      scale *= 128
    }
    throw new MalformedProtobuf('A varint has no end')
  }
}

/** The prefix of every Kubernetes protobuf message. A `runtime.Unknown` with the object follows. */
export const MAGIC = Buffer.from('k8s\0')
