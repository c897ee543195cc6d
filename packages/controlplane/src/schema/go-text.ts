/** Text as Go's fmt and encoding/json write it, for error messages that quote values. */
import { goQuote } from '@tenure/yaml'

export { goQuote }

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
