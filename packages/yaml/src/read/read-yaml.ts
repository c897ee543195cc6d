import { goQuote } from '../go-quote.ts'
import { MAX_DEPTH, readDocument, STANDARD_TAG } from './document.ts'
import type { YamlAlias, YamlMapping, YamlNode, YamlScalar } from './document.ts'
import { jsonName, keyIdentity, shownKey } from './keys.ts'
import { jsonNumber, scalarValue } from './scalars.ts'
import type { ScalarValue } from './scalars.ts'

/** Duplicate keys found while parsing, as messages: one for the error that lists all, and one warning each. */
export interface DuplicateKeys {
  readonly error: string
  readonly warnings: readonly string[]
}

export interface YamlContent {
  /** As JSON has it: numbers are float64, keys are strings and sorted. Null for an empty document. */
  readonly value: unknown
  /** Undefined if there are none. */
  readonly duplicateKeys?: DuplicateKeys
}

export interface YamlReadOptions {
  /**
   * A text whose JSON is surely larger is refused with a `YamlTooLargeError` before it is read to the end. Keys count
   * even if others replace them. Default: no limit.
   */
  readonly maxJsonBytes?: number
}

/**
 * Reads the first document of a YAML text as sigs.k8s.io/yaml does. The last of duplicate keys wins, and duplicates are
 * reported. Throws an Error with the reason if the text is malformed.
 */
export function readYaml(text: string, { maxJsonBytes = Infinity }: YamlReadOptions = {}): YamlContent {
  const document = readDocument(text, maxJsonBytes)
  if (!document) return { value: null }
  const reading = new DocumentReader()
  const value = reading.jsonOf(document, 0)
  return reading.duplicateKeys.length > 0 ? { value, duplicateKeys: toDuplicateKeys(reading.duplicateKeys) } : { value }
}

const toDuplicateKeys = (lines: readonly string[]): DuplicateKeys => ({
  error: `yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`,
  warnings: lines,
})

// The limits of kube-apiserver: the larger the document, the smaller the allowed share of aliases.
const MIN_CHECKED_NODES = 1000
const MIN_CHECKED_ALIASED_NODES = 100
const LOW_NODES = 400_000
const HIGH_NODES = 4_000_000
const HIGHEST_RATIO = 0.99
const LOWEST_RATIO = 0.1

/** Maximum characters of aliased scalars in all: kube-apiserver takes no body of that size, so that it needs no such limit. */
const MAX_ALIASED_CHARACTERS = 3 * 1024 * 1024

/** Duplicate keys that are reported. kube-apiserver reports all, and cuts the warnings at some hundred. */
const MAX_DUPLICATE_KEYS = 1_000

/** Maximum characters of a key in a message. */
const MAX_SHOWN_KEY_LENGTH = 4096

const UNMERGEABLE = 'yaml: map merge requires map or sequence of maps as the value'

/** The contents of a mapping while it is read, by key identity. */
type Held = Map<unknown, { readonly key: ScalarValue; readonly value: unknown }>

/**
 * Converts a document to JSON. JSON has no aliases, so each is expanded; a few hundred bytes of nested aliases would
 * otherwise exhaust memory.
 */
class DocumentReader {
  readonly duplicateKeys: string[] = []
  readonly #open = new Set<YamlAlias>()
  #nodes = 0
  #aliased = 0
  #aliasedCharacters = 0
  /** The values of scalars below an anchor, which are read again for each alias. */
  readonly #aliasedScalars = new Map<YamlScalar, ScalarValue>()

  jsonOf(node: YamlNode, depth: number): unknown {
    this.#enter(depth)
    switch (node.kind) {
      case 'scalar':
        // Most numbers are small: they need no bigint on the way.
        return (this.#isSimple(node) ? jsonNumber(node.text) : undefined) ?? jsonScalar(this.#scalar(node))
      case 'sequence':
        return node.items.map((item) => this.jsonOf(item, depth + 1))
      case 'mapping': {
        const held: Held = new Map()
        this.#fill(held, node, depth)
        return jsonObject(held)
      }
      default:
        return this.#inside(node, () => this.jsonOf(node.target, depth + 1))
    }
  }

  #fill(held: Held, mapping: YamlMapping, depth: number): void {
    for (const [keyNode, valueNode] of mapping.entries) {
      if (isMerge(keyNode)) {
        this.#merge(held, valueNode, depth)
        continue
      }
      const key = this.#keyOf(keyNode, depth + 1)
      const value = this.jsonOf(valueNode, depth + 1)
      const identity = keyIdentity(key)
      if (held.has(identity) && this.duplicateKeys.length < MAX_DUPLICATE_KEYS) {
        this.duplicateKeys.push(`line ${valueNode.line}: key ${shownKey(shortened(key))} already set in map`)
      }
      held.set(identity, { key, value })
    }
  }

  #keyOf(node: YamlNode, depth: number): ScalarValue {
    if (node.kind === 'alias') {
      this.#enter(depth)
      return this.#inside(node, () => this.#keyOf(node.target, depth + 1))
    }
    if (node.kind !== 'scalar') throw new Error(`yaml: invalid map key: ${shown(this.jsonOf(node, depth))}`)
    this.#enter(depth)
    return this.#scalar(node)
  }

  #isSimple({ tag, isPlain }: YamlScalar): boolean {
    return isPlain && tag === '' && this.#open.size === 0
  }

  #scalar(node: YamlScalar): ScalarValue {
    if (this.#open.size === 0) return scalarValue(node)
    this.#aliasedCharacters += node.text.length
    if (this.#aliasedCharacters > MAX_ALIASED_CHARACTERS) throw excessiveAliasing()
    const known = this.#aliasedScalars.get(node)
    if (known !== undefined) return known
    const value = scalarValue(node)
    this.#aliasedScalars.set(node, value)
    return value
  }

  /** Merged keys count as if they were written in place. The first of a list takes precedence, so it is merged last. */
  #merge(held: Held, from: YamlNode, depth: number): void {
    if (from.kind === 'sequence') {
      for (const item of from.items.toReversed()) this.#mergeOne(held, item, depth)
    } else this.#mergeOne(held, from, depth)
  }

  #mergeOne(held: Held, from: YamlNode, depth: number): void {
    this.#enter(depth)
    if (from.kind === 'mapping') return this.#fill(held, from, depth)
    if (from.kind !== 'alias' || from.target.kind !== 'mapping') throw new Error(UNMERGEABLE)
    const { target } = from
    this.#inside(from, () => this.#mergeOne(held, target, depth + 1))
  }

  #inside<T>(alias: YamlAlias, read: () => T): T {
    if (this.#open.has(alias)) throw new Error(`yaml: anchor '${alias.name}' value contains itself`)
    this.#open.add(alias)
    const result = read()
    this.#open.delete(alias)
    return result
  }

  #enter(depth: number): void {
    if (depth > MAX_DEPTH) throw new Error('yaml: exceeded max depth')
    this.#nodes++
    if (this.#open.size > 0) this.#aliased++
    if (this.#aliased <= MIN_CHECKED_ALIASED_NODES || this.#nodes <= MIN_CHECKED_NODES) return
    const excess = Math.min(Math.max(this.#nodes - LOW_NODES, 0) / (HIGH_NODES - LOW_NODES), 1)
    const allowed = HIGHEST_RATIO - (HIGHEST_RATIO - LOWEST_RATIO) * excess
    if (this.#aliased / this.#nodes > allowed) throw excessiveAliasing()
  }
}

const excessiveAliasing = (): Error => new Error('yaml: document contains excessive aliasing')

const shortened = (key: ScalarValue): ScalarValue =>
  typeof key === 'string' && key.length > MAX_SHOWN_KEY_LENGTH ? `${key.slice(0, MAX_SHOWN_KEY_LENGTH)}...` : key

function isMerge(key: YamlNode): boolean {
  if (key.kind !== 'scalar' || key.text !== '<<') return false
  return key.tag === '' ? key.isPlain : key.tag === '!' || key.tag === `${STANDARD_TAG}merge`
}

function jsonScalar(value: ScalarValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new Error(`json: unsupported value: ${shownKey(value)}`)
}

/** Sorted by name, as in kube-apiserver: the order of its messages. */
function jsonObject(held: Held): Readonly<Record<string, unknown>> {
  const values = new Map<string, unknown>()
  for (const { key, value } of held.values()) {
    const name = jsonName(key)
    if (name !== undefined) {
      values.set(name, value)
      continue
    }
    const type = key === null ? '%!s(<nil>)' : 'uint64'
    throw new Error(`unsupported map key of type: ${type}, key: ${shownKey(key)}, value: ${shown(value)}`)
  }
  // fromEntries defines keys instead of assigning them: `__proto__` is an ordinary key.
  return Object.fromEntries([...values.keys()].toSorted().map((name) => [name, values.get(name)]))
}

/** Formats a value as `%#v`; the keys of a mapping may have any type in Go's YAML. */
const shown = (value: unknown): string => (value === null ? '<nil>' : goSyntax(value))

function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuote(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${goQuote(key)}:${goSyntax(item)}`)
  return `map[interface {}]interface {}{${entries.join(', ')}}`
}
