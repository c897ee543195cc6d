import { isJsonObject } from '@tenure/kube/model'
import { isList } from '../../patch/json.ts'

/**
 * A step of a field path as managedFields write it: `f:name` a field, `k:{"name":"x"}` the list item with that key,
 * `v:"x"` the item of a set, `i:0` an index.
 */
export type PathElement = string

const KINDS = 'fkvi'
// Characters that Go escapes differently than JSON.stringify: HTML, line separators and two control characters.
const PLAIN = /^[\w ./:@+*,;=-]*$/
const GO_ESCAPES = /[<>&\u2028\u2029\\]/

/** Interned names. There are few distinct ones, so a full map is cleared instead of tracking their use on the apply path. */
const MAX_KNOWN_FIELDS = 8_192
const knownFields = new Map<string, PathElement>()

/** Interned, because names repeat and an interned key need not be hashed again. */
export function fieldElement(name: string): PathElement {
  const known = knownFields.get(name)
  if (known !== undefined) return known
  const element = `f:${name}`
  if (knownFields.size >= MAX_KNOWN_FIELDS) knownFields.clear()
  knownFields.set(name, element)
  return element
}

export const valueElement = (value: unknown): PathElement => `v:${goJson(value)}`

/** The pairs must be sorted by key. */
export function keyElement(pairs: readonly (readonly [string, unknown])[]): PathElement {
  const [only] = pairs
  if (only && pairs.length === 1) return `k:{${JSON.stringify(only[0])}:${goJson(only[1])}}`
  return `k:{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${goJson(value)}`).join(',')}}`
}

/** A value as Go's JSON encoder writes it. */
function goJson(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`
  return goEscaped(JSON.stringify(value))
}

/** JSON with Go's escapes. */
export function goEscaped(json: string): string {
  if (!GO_ESCAPES.test(json)) return json
  return json
    .replaceAll(/\\(.)/g, (escape, char) => (char === 'b' ? '\\u0008' : char === 'f' ? '\\u000c' : escape))
    .replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The order of UTF-8 bytes, as in kube-apiserver: that of UTF-16 code units except for surrogates. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return x < 0xd800 || y < 0xd800 ? x - y : codePointRank(x) - codePointRank(y)
  }
  return a.length - b.length
}

/** Characters whose order in UTF-8 and in UTF-16 differs. */
const HIGH = /[\uD800-\uFFFF]/

/** Sorts as `compareText` does, but calls it only where the own order of strings may differ. */
export function sortedTexts(texts: readonly string[]): readonly string[] {
  return texts.some((text) => HIGH.test(text)) ? texts.toSorted(compareText) : texts.toSorted()
}

/** Surrogates encode code points above all others. */
const codePointRank = (unit: number): number => (unit >= 0xe000 ? unit - 0x2800 : unit)

type Pairs = readonly (readonly [string, unknown])[]

/** An element that is parsed for comparison, once however often it is compared. */
export interface ParsedElement {
  readonly element: PathElement
  readonly kind: number
  /** The pairs of a `k:` element, else none. */
  readonly pairs: Pairs
  /** The value of a `v:` element or the number of an `i:` element. */
  readonly value: unknown
}

export function parsedElement(element: PathElement): ParsedElement {
  const kind = KINDS.indexOf(element[0] ?? '')
  switch (element[0]) {
    case 'k':
      return { element, kind, pairs: entries(parse(element)), value: undefined }
    case 'v':
      return { element, kind, pairs: [], value: parse(element) }
    case 'i':
      return { element, kind, pairs: [], value: Number(element.slice(2)) }
    default:
      return { element, kind, pairs: [], value: undefined }
  }
}

/** The text before the value of an element whose value is a text. */
const VALUE_PREFIX = /^(?:f:|v:"|k:\{"[^"\\]*":")/

/**
 * Elements in the order in which kube-apiserver writes fields. Most nodes have children of one form that differ in one
 * text, such as `k:{"name":"…"}`: then they sort as texts, which is much faster than to parse and compare them.
 */
export function sortedElements(elements: readonly PathElement[]): readonly PathElement[] {
  if (elements.length < 2) return elements
  const prefix = VALUE_PREFIX.exec(elements[0] ?? '')?.[0]
  if (prefix === undefined || !elements.every((element) => sortsAsText(element, prefix))) return sortedByParts(elements)
  let before = ''
  for (const element of elements) {
    if (before > element) return elements.toSorted()
    before = element
  }
  return elements
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_SURROGATE = 0xd800

/** Whether an element begins with this text, and the rest compares as the value in it: it has no escapes and quotes. */
function sortsAsText(element: PathElement, prefix: string): boolean {
  if (!element.startsWith(prefix)) return false
  const isField = prefix === 'f:'
  const end = isField ? element.length : element.length - (prefix.startsWith('v') ? 1 : 2)
  for (let at = prefix.length; at < end; at++) {
    const code = element.charCodeAt(at)
    // The order of UTF-8 and UTF-16 differs from here on. A character before the closing quote would sort before the end.
    if (code >= FIRST_SURROGATE || (!isField && (code <= QUOTE || code === BACKSLASH))) return false
  }
  return isField || element.endsWith(prefix.startsWith('v') ? '"' : '"}')
}

function sortedByParts(elements: readonly PathElement[]): readonly PathElement[] {
  const parsed = elements.map(parsedElement)
  let before = parsed[0]
  for (const element of parsed) {
    if (before && compareElements(before, element) > 0) {
      return parsed.toSorted(compareElements).map((each) => each.element)
    }
    before = element
  }
  return elements
}

/** The order in which kube-apiserver writes fields. */
export function compareElements(a: ParsedElement, b: ParsedElement): number {
  if (a.kind !== b.kind) return a.kind - b.kind
  if (a.element.startsWith('f')) return compareText(a.element, b.element)
  return comparePairs(a.pairs, b.pairs) || compareValues(a.value, b.value)
}

function comparePairs(a: Pairs, b: Pairs): number {
  for (let i = 0; i < a.length || i < b.length; i++) {
    const [left, right] = [a[i], b[i]]
    if (!left) return -1
    if (!right) return 1
    const order = compareText(left[0], right[0]) || compareValues(left[1], right[1])
    if (order !== 0) return order
  }
  return 0
}

/** Numbers, then strings, booleans, lists, maps and null. */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' || typeof b === 'number') {
    return typeof a !== 'number' ? 1 : typeof b !== 'number' ? -1 : Math.sign(a - b)
  }
  if (typeof a === 'string' || typeof b === 'string') {
    return typeof a !== 'string' ? 1 : typeof b !== 'string' ? -1 : compareText(a, b)
  }
  if (typeof a === 'boolean' || typeof b === 'boolean') {
    return typeof a !== 'boolean' ? 1 : typeof b !== 'boolean' ? -1 : Number(a) - Number(b)
  }
  if (isList(a) || isList(b)) {
    if (!isList(a)) return 1
    if (!isList(b)) return -1
    return comparePairs(
      a.map((item) => ['', item] as const),
      b.map((item) => ['', item] as const),
    )
  }
  if (isJsonObject(a) || isJsonObject(b)) {
    return !isJsonObject(a) ? 1 : !isJsonObject(b) ? -1 : comparePairs(entries(a), entries(b))
  }
  return 0
}

const parse = (element: PathElement): unknown => JSON.parse(element.slice(2))

function entries(value: unknown): Pairs {
  if (!isJsonObject(value)) return []
  const pairs = Object.entries(value)
  return pairs.length < 2 ? pairs : pairs.toSorted(([a], [b]) => compareText(a, b))
}

/**
 * An element as the server writes it. Undefined for an unknown kind, which is skipped; throws if the element is
 * malformed.
 */
export function canonicalElement(element: string): PathElement | undefined {
  if (element.length < 2 || element[1] !== ':') throw new SyntaxError(`missing colon: ${element}`)
  switch (element[0]) {
    case 'f':
      return element
    case 'v':
      return valueElement(parse(element))
    case 'k': {
      const key = parse(element)
      if (!isJsonObject(key)) throw new SyntaxError(`not a key: ${element}`)
      return keyElement(entries(key))
    }
    case 'i':
      if (!/^[+-]?\d+$/.test(element.slice(2))) throw new SyntaxError(`not an index: ${element}`)
      return `i:${Number(element.slice(2))}`
    default:
      return undefined
  }
}

/** An element as conflicts and error messages show it: `.image`, `[name="x"]`, `[="x"]`, `[0]`. */
export function printElement(element: PathElement): string {
  switch (element[0]) {
    case 'f':
      return `.${element.slice(2)}`
    case 'k':
      return `[${entries(parse(element))
        .map(([name, value]) => `${name}=${printValue(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${printValue(parse(element))}]`
    default:
      return `[${element.slice(2)}]`
  }
}

function printValue(value: unknown): string {
  if (isList(value)) return `[${value.map(printValue).join(',')}]`
  if (isJsonObject(value))
    return entries(value)
      .map(([name, member]) => `${name}=${printValue(member)}`)
      .join('')
  return JSON.stringify(value)
}
