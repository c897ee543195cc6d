/** Writes YAML as Kubernetes' Go code does. */
import { goFloat } from '../go-float.ts'
import { compareKeys } from './key-order.ts'
import { scalarStyle } from './scalar-style.ts'
import { NO_BREAK, scalarText } from './scalar-text.ts'

/** A value that YAML can express. A bigint is an integer, a number a float64; a Uint8Array becomes `!!binary`. */
export type YamlValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly YamlValue[]
  | ReadonlyMap<string, YamlValue>
  | { readonly [key: string]: YamlValue }

export interface YamlWriteOptions {
  /**
   * - `kubernetes` (default): as sigs.k8s.io/yaml prints: long lines are folded, lists are not indented in mappings.
   * - `pretty`: as go-yaml 3 with an indentation of two: nothing is folded, lists are indented.
   */
  readonly style?: 'kubernetes' | 'pretty'
}

/** The largest nesting of values. */
const MAX_WRITE_DEPTH = 1000
const FOLD_WIDTH = 80
const MAX_SIMPLE_KEY_BYTES = 128
const INDENT = 2

/** Returns one document, with a newline at its end. Throws a RangeError if the value is nested too deep. */
export function writeYaml(value: YamlValue, options: YamlWriteOptions = {}): string {
  const format = options.style === 'pretty' ? PRETTY : KUBERNETES
  const text = `${nodeText(value, { format, indent: 0, column: 0, depth: 0 })}\n`
  return text.includes(NO_BREAK) ? text.replaceAll(`${NO_BREAK}\n`, '') : text
}

interface Format {
  /** Whether the items of a list are indented more than the key of the list. */
  readonly areListsIndented: boolean
  /** Whether the literal style may have tabs. */
  readonly areTabsLiteral: boolean
  /** The order of keys: whether `a1b` precedes `a10`. */
  readonly areShortNumbersFirst: boolean
  /** Whether a float without a fraction is written as an integer. */
  readonly areWholeFloatsIntegers: boolean
  /** Longer lines are folded. */
  readonly width: number
}

const KUBERNETES: Format = {
  areListsIndented: false,
  areTabsLiteral: false,
  areShortNumbersFirst: false,
  // sigs.k8s.io/yaml goes through JSON, which has one type of numbers.
  areWholeFloatsIntegers: true,
  width: FOLD_WIDTH,
}

const PRETTY: Format = {
  areListsIndented: true,
  areTabsLiteral: true,
  areShortNumbersFirst: true,
  areWholeFloatsIntegers: false,
  width: Infinity,
}

/** Where a node is written. */
interface NodePlace {
  readonly format: Format
  /** The indentation of its mapping keys and list items. */
  readonly indent: number
  /** The column at which its first character is written. */
  readonly column: number
  readonly depth: number
}

const NO_ITEMS = '[]'
const NO_ENTRIES = '{}'

function nodeText(value: YamlValue, place: NodePlace): string {
  const { format, depth } = place
  if (depth > MAX_WRITE_DEPTH) throw new RangeError('yaml: exceeded max depth')
  if (typeof value === 'string') return stringText(value, place, format.width)
  if (typeof value === 'number') return numberText(value, format)
  if (value instanceof Uint8Array) return `!!binary ${Buffer.from(value).toString('base64')}`
  if (isList(value)) return value.length === 0 ? NO_ITEMS : listText(value, place)
  if (!isMapping(value)) return String(value)
  const map = mapOf(value)
  return map.size === 0 ? NO_ENTRIES : mappingText(map, place)
}

/** A string whose other lines, if it has any, are indented more than the collection that it is in. */
function stringText(text: string, { format, indent, column, depth }: NodePlace, width: number): string {
  const style = scalarStyle(text, format.areTabsLiteral)
  return scalarText(text, style, { column, indent: depth === 0 ? INDENT : indent, width })
}

function numberText(value: number, format: Format): string {
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  const digits = format.areWholeFloatsIntegers && Number.isInteger(value) ? String(value) : ''
  return /^-?\d+$/.test(digits) && isIn64Bits(BigInt(digits)) ? digits : goFloat(value)
}

const isIn64Bits = (value: bigint): boolean => value >= -(2n ** 63n) && value < 2n ** 64n

function listText(items: readonly YamlValue[], place: NodePlace): string {
  return linesOf(items, place.indent, (item) => `- ${nodeText(item, nested(place))}`)
}

function mappingText(map: ReadonlyMap<string, YamlValue>, place: NodePlace): string {
  return linesOf(sortedKeys(map, place.format), place.indent, (key) => entryText(key, map.get(key) ?? null, place))
}

/** Joins by adding, not with `join`: every level of nesting would copy the text. */
function linesOf<Item>(items: readonly Item[], indent: number, textOf: (item: Item) => string): string {
  const lineBreak = `\n${' '.repeat(indent)}`
  let out = ''
  let before = ''
  for (const item of items) {
    out += before + textOf(item)
    before = lineBreak
  }
  return out
}

const BREAKS = /[\n\r\u0085\u2028\u2029]/

function entryText(key: string, written: YamlValue, place: NodePlace): string {
  const value = isMapping(written) ? mapOf(written) : written
  const inner = nested(place)
  if (BREAKS.test(key) || Buffer.byteLength(key) > MAX_SIMPLE_KEY_BYTES) {
    const question = `? ${stringText(key, inner, place.format.width)}`
    return `${question}\n${' '.repeat(place.indent)}: ${nodeText(value, inner)}`
  }
  const before = `${stringText(key, inner, Infinity)}:`
  if (!isFilled(value)) return `${before} ${nodeText(value, { ...inner, column: place.indent + before.length + 1 })}`
  const isAtKey = isList(value) && !place.format.areListsIndented
  const indent = isAtKey ? place.indent : inner.indent
  return `${before}\n${' '.repeat(indent)}${nodeText(value, { ...inner, indent, column: indent })}`
}

/** The place of a node behind an indicator of one character and a space. */
function nested({ format, indent, depth }: NodePlace): NodePlace {
  return { format, indent: indent + INDENT, column: indent + INDENT, depth: depth + 1 }
}

/** Whether the value is a list or a mapping that takes lines of its own. */
function isFilled(value: YamlValue): boolean {
  if (isList(value)) return value.length > 0
  return value instanceof Map && value.size > 0
}

const isList = (value: YamlValue): value is readonly YamlValue[] => Array.isArray(value)

const isMapping = (value: YamlValue): value is YamlMapping =>
  typeof value === 'object' && value !== null && !isList(value) && !(value instanceof Uint8Array)

type YamlMapping = Exclude<YamlValue, null | boolean | number | bigint | string | Uint8Array | readonly YamlValue[]>

const mapOf = (value: YamlMapping): ReadonlyMap<string, YamlValue> =>
  value instanceof Map ? value : new Map(Object.entries(value))

/** Go's order of some keys is a circle. They are sorted by code first, so that equal maps have equal texts. */
function sortedKeys(map: ReadonlyMap<string, YamlValue>, format: Format): readonly string[] {
  return [...map.keys()].toSorted().toSorted((a, b) => compareKeys(a, b, format.areShortNumbersFirst))
}
