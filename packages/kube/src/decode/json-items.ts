const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Of the content of a JSON array, cut anywhere: where its last comma between two elements is; -1 if there is none. What
 * comes after the array's own end does not count.
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

/** As first in an element, a name or a text that is longer than this tells nothing. */
const LONGEST_OPENING = 256

/**
 * What an object begins with that its like in the same array begin with too: its first name, with the value if that
 * is a text. Undefined if that has not come yet or is no such thing.
 */
export function openingOf(bytes: Buffer): Buffer | undefined {
  const opening = /^\{"[^"\\]*":(?:"[^"\\]*"|[[{\d])/.exec(bytes.toString('latin1', 0, LONGEST_OPENING))
  return opening ? Buffer.from(opening[0], 'latin1') : undefined
}
