const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * The index of the last comma between two elements in the content of a JSON array, which may be cut anywhere; -1 if there
 * is none. Bytes after the end of the array are ignored.
 */
export function lastElementComma(bytes: Uint8Array): number {
  let found = -1
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = closingQuote(bytes, at + 1)
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth++
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        if (--depth < 0) return found
        break
      case COMMA:
        if (depth === 0) found = at
        break
      default:
    }
  }
  return found
}

function closingQuote(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/** Bytes of an element that are searched for its opening. */
const MAX_OPENING_BYTES = 256

/**
 * The opening that an object shares with the other objects of its array: its first key, with the value if that is a
 * string. Undefined if these bytes have not arrived, or are something else.
 */
export function openingOf(bytes: Buffer): Buffer | undefined {
  const opening = /^\{"[^"\\]*":(?:"[^"\\]*"|[[{\d])/.exec(bytes.toString('latin1', 0, MAX_OPENING_BYTES))
  return opening ? Buffer.from(opening[0], 'latin1') : undefined
}
