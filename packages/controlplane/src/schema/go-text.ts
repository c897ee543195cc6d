/** Text as Go's fmt and encoding/json write it, for error messages that quote values. */

const NAMED = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [9, '\\t'],
  [10, '\\n'],
  [11, '\\v'],
  [12, '\\f'],
  [13, '\\r'],
  [34, '\\"'],
  [92, '\\\\'],
])
const PLAIN = /^[ !#-[\]-~]*$/
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** `%q`. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  let quoted = '"'
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const named = NAMED.get(code)
    if (named !== undefined) quoted += named
    else if (PRINTABLE.test(character)) quoted += character
    else if (code < 0x80) quoted += `\\x${hex(code, 2)}`
    else if (code < 0x1_00_00) quoted += `\\u${hex(code, 4)}`
    else quoted += `\\U${hex(code, 8)}`
  }
  return `${quoted}"`
}

const HTML = /[<>&\u2028\u2029]/g

/** As `json.Marshal`: sorted keys, escaped HTML. */
export function goJson(value: unknown): string {
  return sorted(value).replace(HTML, (character) => `\\u${hex(character.charCodeAt(0), 4)}`)
}

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    // Go structs define their own field order.
    if ('toJSON' in value) return JSON.stringify(value)
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${sorted(item)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** A value inside `Invalid value: …`. */
export function goValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return goQuote(value)
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    default:
      return goJson(value)
  }
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
