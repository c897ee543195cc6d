/** Decodes the bytes of a YAML text: UTF-8, or UTF-16 with a byte order mark. */

export interface DecodedYaml {
  readonly body: string
  /** Why it is not valid text, in kube-apiserver's words. */
  readonly unreadable?: string
}

export function decodeYaml(bytes: Buffer): DecodedYaml {
  const order = bytes.length < 2 ? 0 : bytes.readUInt16BE(0)
  if (order === 0xff_fe) return { body: new TextDecoder('utf-16le').decode(bytes) }
  if (order === 0xfe_ff) return { body: new TextDecoder('utf-16be').decode(bytes) }
  const unreadable = firstFlaw(bytes)
  return { body: bytes.toString(), ...(unreadable !== undefined && { unreadable }) }
}

/** The number of bytes of a character with this first byte; 0 if it is invalid. */
function widthOf(first: number): number {
  if (first < 0x80) return 1
  if (first >= 0xc0 && first < 0xe0) return 2
  if (first >= 0xe0 && first < 0xf0) return 3
  return first >= 0xf0 && first < 0xf8 ? 4 : 0
}

/** The smallest code point that needs this many bytes. */
const MIN_CODE_POINT = [0, 0, 0x80, 0x8_00, 0x1_00_00]

function firstFlaw(bytes: Buffer): string | undefined {
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0
    const width = widthOf(first)
    if (width === 0) return 'invalid leading UTF-8 octet'
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence'
    let letter = width === 1 ? first : first & (0xff >> (width + 1))
    for (const next of bytes.subarray(at + 1, at + width)) {
      if ((next & 0xc0) !== 0x80) return 'invalid trailing UTF-8 octet'
      letter = (letter << 6) | (next & 0x3f)
    }
    if (letter < (MIN_CODE_POINT[width] ?? 0)) return 'invalid length of a UTF-8 sequence'
    if ((letter >= 0xd8_00 && letter <= 0xdf_ff) || letter > 0x10_ff_ff) return 'invalid Unicode character'
    at += width
  }
  return undefined
}
