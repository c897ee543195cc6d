/** JSON as Go's encoding/json prints it. */
import { FunctionError } from '../values/go-function.ts'
import { toDisplay } from '../values/bytes.ts'
import { sortedKeys } from '../values/sorted-keys.ts'
import { isEmpty } from '../functions/conversions.ts'
import { GoComplex, GoInt, GoList, GoStruct, itemsOf, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { formatFloat } from '../format/floats.ts'
import { typeOf } from '../values/types.ts'
import { work } from '../values/work.ts'

export interface JsonWriteOptions {
  /** Whether `<`, `>` and `&` are escaped. Default: true. */
  readonly isHtmlEscaped?: boolean
  /** The indentation of each level; empty for one line. Default: empty. */
  readonly indent?: string
}

/** The largest nesting of values. */
const MAX_JSON_WRITE_DEPTH = 1000

/** Throws a FunctionError if the value has no JSON form. */
export function writeJson(value: GoValue, options: JsonWriteOptions = {}): string {
  return new JsonWriter(options.isHtmlEscaped !== false, options.indent ?? '').text(value, 0)
}

/** The entries of a struct in JSON, with those of embedded structs. */
export function jsonFields(struct: GoStruct): readonly (readonly [string, GoValue])[] {
  return struct.fields.flatMap((field): readonly (readonly [string, GoValue])[] => {
    if (field.isEmbedded === true && field.value instanceof GoStruct) return jsonFields(field.value)
    if (/^[a-z]/.test(field.name) || (field.omitEmpty === true && isEmpty(field.value))) return []
    return [[field.json ?? field.name, field.value]]
  })
}

class JsonWriter {
  readonly #isHtmlEscaped: boolean
  readonly #indent: string

  constructor(isHtmlEscaped: boolean, indent: string) {
    this.#isHtmlEscaped = isHtmlEscaped
    this.#indent = indent
  }

  text(value: GoValue, depth: number): string {
    work(typeof value === 'string' ? 1 + (value.length >>> 6) : 1)
    if (value === null || value === undefined) return 'null'
    if (depth > MAX_JSON_WRITE_DEPTH) throw new FunctionError('json: value is nested too deep')
    if (typeof value === 'string') return this.#string(value)
    if (typeof value === 'number') return jsonNumber(value)
    if (typeof value === 'boolean') return String(value)
    if (value instanceof GoInt) return value.value.toString()
    if (value instanceof Map) return this.#map(value, depth)
    if (value instanceof GoStruct) {
      if (value.options.json) return this.text(value.options.json(), depth)
      return this.#entries(jsonFields(value), depth)
    }
    if (value instanceof GoList) {
      if (value.isNil) return 'null'
      if (value.type === '[]uint8') return `"${bytesOf(value).toString('base64')}"`
    }
    if (value instanceof GoComplex) throw new FunctionError('json: unsupported type: complex128')
    const items = itemsOf(value)
    if (!items) throw new FunctionError(`json: unsupported type: ${typeOf(value)}`)
    return this.#wrap(
      '[',
      items.map((item) => this.text(item, depth + 1)),
      ']',
      depth,
    )
  }

  #map(map: ReadonlyMap<string, GoValue>, depth: number): string {
    if (map instanceof NamedMap && map.isNil) return 'null'
    return this.#entries(
      sortedKeys(map).map((key) => [key, map.get(key)] as const),
      depth,
    )
  }

  #entries(entries: readonly (readonly [string, GoValue])[], depth: number): string {
    const colon = this.#indent === '' ? ':' : ': '
    const texts = entries.map(([key, value]) => this.#string(key) + colon + this.text(value, depth + 1))
    return this.#wrap('{', texts, '}', depth)
  }

  #wrap(open: string, parts: readonly string[], close: string, depth: number): string {
    if (parts.length === 0 || this.#indent === '') return open + parts.join(',') + close
    const line = `\n${this.#indent.repeat(depth + 1)}`
    return `${open}${line}${parts.join(`,${line}`)}\n${this.#indent.repeat(depth)}${close}`
  }

  #string(text: string): string {
    const json = JSON.stringify(toDisplay(text)).replaceAll(/[\u2028\u2029\x7F]/g, (character) => {
      return character === '\x7F' ? character : `\\u${character.charCodeAt(0).toString(16)}`
    })
    if (!this.#isHtmlEscaped) return json
    return json.replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
  }
}

export function bytesOf(list: GoList): Buffer {
  return Buffer.from(list.items.map((item) => (item instanceof GoInt ? Number(item.value) : 0)))
}

/** A float64 in JSON. */
export function jsonNumber(value: number): string {
  if (!Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
    throw new FunctionError(`json: unsupported value: ${shown}`)
  }
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-6 || size >= 1e21)) return formatFloat(value, 'e', -1).replace(/e-0(\d)$/, 'e-$1')
  return formatFloat(value, 'f', -1)
}
