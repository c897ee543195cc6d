/** TOML as BurntSushi/toml prints it. */
import { goFloat } from '@tenure/yaml'

import { toDisplay } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import { sortedKeys } from '../values/sorted-keys.ts'
import { intText } from '../values/named-ints.ts'
import { isNil } from '../values/types.ts'
import { GoInt, GoStruct, itemsOf } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { work } from '../values/work.ts'

const MAX_TOML_DEPTH = 500

/** A value without a TOML form; its message is the result of `toToml`. */
class Unencodable extends Error {}

export function writeToml(value: GoValue): string {
  if (value === null || value === undefined) {
    throw new FunctionError('reflect: call of reflect.Value.Type on zero Value')
  }
  const writer = new TomlWriter()
  try {
    writer.encode([], value)
  } catch (error) {
    if (error instanceof Unencodable) return error.message
    throw error
  }
  return writer.out
}

type Entries = readonly (readonly [string, GoValue])[]

/** The entries of a table; undefined if the value is not one. */
function entriesOf(value: GoValue): Entries | undefined {
  work(1)
  if (value instanceof Map) return sortedKeys(value).map((key) => [key, value.get(key)])
  if (!(value instanceof GoStruct) || value.options.json) return undefined
  return value.fields
    .flatMap((field): Entries =>
      field.isEmbedded === true ? (entriesOf(field.value) ?? []) : [[field.name, field.value]],
    )
    .filter(([name]) => /^[A-Z]/.test(name))
}

/** Whether it is a list of tables only. Throws if the list has nil items. */
function isTableList(value: GoValue): boolean {
  const items = itemsOf(value)
  if (!items || items.length === 0) return false
  if (items.some(isNil)) throw new Unencodable('toml: cannot encode array with nil element')
  for (const item of items) isTableList(item)
  return items.every((item) => entriesOf(item) !== undefined)
}

const isTable = (value: GoValue): boolean => entriesOf(value) !== undefined || isTableList(value)

class TomlWriter {
  out = ''

  encode(key: readonly string[], value: GoValue): void {
    if (key.length > MAX_TOML_DEPTH) throw new Unencodable('toml: value is nested too deep')
    if (isNil(value)) return
    const entries = entriesOf(value)
    if (entries) return this.#table(key, entries)
    if (!isTableList(value)) return this.#keyValue(key, value)
    if (key.length === 0) throw new Unencodable('toml: top-level values must be Go maps or structs')
    for (const item of itemsOf(value) ?? []) {
      this.#newline()
      this.out += `${indent(key)}[[${key.map(shownKey).join('.')}]]\n`
      this.#entries(key, entriesOf(item) ?? [])
    }
  }

  #newline(): void {
    if (this.out !== '') this.out += '\n'
  }

  #table(key: readonly string[], entries: Entries): void {
    if (key.length === 1) this.#newline()
    if (key.length > 0) this.out += `${indent(key)}[${key.map(shownKey).join('.')}]\n`
    this.#entries(key, entries)
  }

  /** Plain values come before tables, because a table extends to the next header. */
  #entries(key: readonly string[], entries: Entries): void {
    const [plain, tables] = partition(entries)
    for (const [name, value] of [...plain, ...tables]) this.encode([...key, name], value)
  }

  #keyValue(key: readonly string[], value: GoValue): void {
    const name = key.at(-1)
    if (name === undefined) {
      this.out += element(value, 0)
      return
    }
    this.out += `${indent(key)}${shownKey(name)} = ${element(value, 0)}\n`
  }
}

function partition(entries: Entries): readonly [Entries, Entries] {
  return [entries.filter(([, value]) => !isTable(value)), entries.filter(([, value]) => isTable(value))]
}

const indent = (key: readonly string[]): string => '  '.repeat(Math.max(key.length - 1, 0))

const shownKey = (name: string): string => (/^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name))

function element(value: GoValue, depth: number): string {
  if (depth > MAX_TOML_DEPTH) throw new Unencodable('toml: value is nested too deep')
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return floatText(value)
  if (value instanceof GoInt) return value.named === undefined ? value.value.toString() : quoted(intText(value) ?? '')
  if (value instanceof GoStruct && value.options.json) {
    const text = value.options.json()
    if (typeof text !== 'string') return element(text, depth + 1)
    return value.type === 'time.Time' ? text : quoted(text)
  }
  const entries = entriesOf(value)
  if (entries) {
    const [plain, tables] = partition(entries)
    const shown = [...plain, ...tables].filter(([, item]) => !isNil(item))
    return `{${shown.map(([name, item]) => `${shownKey(name)} = ${element(item, depth + 1)}`).join(', ')}}`
  }
  const items = itemsOf(value)
  if (!items) throw new Unencodable('unexpected type')
  return `[${items.map((item) => element(item, depth + 1)).join(', ')}]`
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  const text = goFloat(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
}

function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const escaped = toDisplay(text).replaceAll(/["\\\x00-\x1F\x7F]/g, (character) => {
    return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return `"${escaped}"`
}
