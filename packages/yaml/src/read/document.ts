/** Parses the first document of a YAML text as a tree. Scalars and repeated keys are resolved later. */
import { YamlError } from './cursor.ts'
import { Scanner } from './scanner.ts'
import type { Token } from './tokens.ts'

interface Placed {
  /** First line, including anchor and tag, counted from 1. */
  readonly line: number
}

export interface YamlScalar extends Placed {
  readonly kind: 'scalar'
  readonly text: string
  /** The full tag, as `tag:yaml.org,2002:int`; empty without one. */
  readonly tag: string
  readonly isPlain: boolean
}

export interface YamlSequence extends Placed {
  readonly kind: 'sequence'
  readonly items: readonly YamlNode[]
}

export interface YamlMapping extends Placed {
  readonly kind: 'mapping'
  readonly entries: readonly (readonly [key: YamlNode, value: YamlNode])[]
}

export interface YamlAlias extends Placed {
  readonly kind: 'alias'
  readonly name: string
  readonly target: YamlNode
}

export type YamlNode = YamlScalar | YamlSequence | YamlMapping | YamlAlias

export const STANDARD_TAG = 'tag:yaml.org,2002:'

/** Maximum nesting of lists and mappings; JSON request bodies have the same. */
export const MAX_DEPTH = 500

const CONTROL = /[^\t\n\r -~\u0085\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

/** The text is larger as JSON than its reader allows. */
export class YamlTooLargeError extends Error {}

/** Undefined if the text has only comments. Throws an Error with the reason if it is malformed. */
export function readDocument(text: string, maxJsonBytes = Infinity): YamlNode | undefined {
  if (CONTROL.test(text)) throw new YamlError('control characters are not allowed', undefined)
  return new Parser(new Scanner(text), maxJsonBytes).document()
}

/** The least bytes that a node takes in JSON: a value of one character and a separator. */
const MIN_NODE_BYTES = 2
/** The quotes and the colon of a key, besides the least of its node. */
const KEY_BYTES = 1
/** `null`, besides its separator. */
const ABSENT_BYTES = 3
/** Longer text that begins with a letter is surely text, and not `false`. */
const MAX_WORD_LENGTH = 5

type TokenType = Token['type']
interface Properties {
  readonly anchor: string
  readonly tag: string
  readonly start: number
}

const AFTER_DOCUMENT: readonly TokenType[] = ['version', 'handle', 'document start', 'document end', 'stream end']
const AFTER_KEY: readonly TokenType[] = ['key', 'value', 'block end']
const AFTER_ENTRY: readonly TokenType[] = ['block entry', 'block end']
const AFTER_INDENTLESS_ENTRY: readonly TokenType[] = ['block entry', ...AFTER_KEY]
const AFTER_PAIR: readonly TokenType[] = ['flow entry', 'flow sequence end']
const AFTER_PAIR_KEY: readonly TokenType[] = ['value', ...AFTER_PAIR]
const AFTER_FLOW_VALUE: readonly TokenType[] = ['flow entry', 'flow mapping end']
const AFTER_FLOW_KEY: readonly TokenType[] = ['value', ...AFTER_FLOW_VALUE]

interface Place {
  readonly isBlock: boolean
  readonly isIndentless: boolean
}
const IN_BLOCK: Place = { isBlock: true, isIndentless: false }
const BELOW_KEY: Place = { isBlock: true, isIndentless: true }
const IN_FLOW: Place = { isBlock: false, isIndentless: false }

class Parser {
  readonly #scanner: Scanner
  readonly #anchors = new Map<string, YamlNode>()
  readonly #handles = new Map<string, string>()
  #depth = 0
  /** The bytes that are left for JSON. */
  #left: number

  constructor(scanner: Scanner, maxJsonBytes: number) {
    this.#scanner = scanner
    this.#left = maxJsonBytes
  }

  /** kube-apiserver reads one document and ignores the rest, valid or not. */
  document(): YamlNode | undefined {
    const { type } = this.#peek()
    if (type === 'stream end') return undefined
    const isBare = !['version', 'handle', 'document start'].includes(type)
    if (!isBare) this.#directives()
    for (const [handle, prefix] of [
      ['!', '!'],
      ['!!', STANDARD_TAG],
    ] as const) {
      if (!this.#handles.has(handle)) this.#handles.set(handle, prefix)
    }
    if (!isBare) {
      this.#expect('document start', 'did not find expected <document start>')
      const { start } = this.#peek()
      if (this.#is(AFTER_DOCUMENT)) return absent(start)
    }
    const root = this.#node(IN_BLOCK)
    // Only the next token shows whether the root is the key of a mapping.
    this.#peek()
    return root
  }

  #peek(): Token {
    return this.#scanner.peek()
  }

  #is(types: readonly TokenType[]): boolean {
    return types.includes(this.#peek().type)
  }

  #takeIf(type: TokenType): Token | undefined {
    const token = this.#peek()
    if (token.type !== type) return undefined
    this.#scanner.skip()
    return token
  }

  #expect(type: TokenType, problem: string, contextLine?: number): void {
    if (!this.#takeIf(type)) throw unexpected(problem, this.#peek().start, contextLine)
  }

  #directives(): void {
    let hasVersion = false
    for (;;) {
      const token = this.#peek()
      if (token.type === 'version') {
        if (hasVersion) throw unexpected('found duplicate %YAML directive', token.start)
        if (token.version !== '1.1') throw unexpected('found incompatible YAML document', token.start)
        hasVersion = true
      } else if (token.type === 'handle') {
        if (this.#handles.has(token.handle)) throw unexpected('found duplicate %TAG directive', token.start)
        this.#handles.set(token.handle, token.prefix)
      } else return
      this.#scanner.skip()
    }
  }

  #node(place: Place): YamlNode {
    const token = this.#peek()
    this.#count(MIN_NODE_BYTES)
    if (token.type === 'alias') {
      this.#scanner.skip()
      return this.#alias(token.name, token.start)
    }
    if (token.type === 'scalar' && this.#depth < MAX_DEPTH) {
      this.#scanner.skip()
      if (!token.isPlain || isSurelyText(token.text)) this.#count(token.text.length)
      return { kind: 'scalar', text: token.text, tag: '', isPlain: token.isPlain, line: token.start + 1 }
    }
    const properties = this.#properties()
    if (++this.#depth > MAX_DEPTH) throw unexpected('exceeded max depth', this.#peek().start)
    const node = this.#content(properties, place)
    this.#depth--
    return node
  }

  #count(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw new YamlTooLargeError('yaml: the document is too large')
  }

  /** A node without content: null. */
  #absent(line: number): YamlScalar {
    this.#count(MIN_NODE_BYTES + ABSENT_BYTES)
    return absent(line)
  }

  #alias(name: string, start: number): YamlAlias {
    const target = this.#anchors.get(name)
    if (!target) throw new YamlError(`unknown anchor '${name}' referenced`, undefined)
    return { kind: 'alias', name, target, line: start + 1 }
  }

  #properties(): Properties {
    const { start } = this.#peek()
    let anchor = ''
    let tag = ''
    for (;;) {
      const token = this.#peek()
      if (token.type === 'anchor' && anchor === '') anchor = token.name
      else if (token.type === 'tag' && tag === '') tag = this.#fullTag(token.handle, token.suffix, start, token.start)
      else return { anchor, tag, start }
      this.#scanner.skip()
    }
  }

  #fullTag(handle: string, suffix: string, start: number, at: number): string {
    if (handle === '') return suffix
    const prefix = this.#handles.get(handle)
    if (prefix === undefined) throw unexpected('found undefined tag handle', at, start)
    return prefix + suffix
  }

  #content(properties: Properties, place: Place): YamlNode {
    const { anchor, tag, start } = properties
    const token = this.#peek()
    const line = start + 1
    if (token.type === 'scalar') {
      this.#scanner.skip()
      return this.#named(anchor, { kind: 'scalar', text: token.text, tag, isPlain: token.isPlain, line })
    }
    const isIndentless = place.isIndentless && token.type === 'block entry'
    if (isIndentless || token.type === 'flow sequence' || (place.isBlock && token.type === 'block sequence')) {
      const items: YamlNode[] = []
      // Registered before its items are parsed, because they may refer to it; reading detects that.
      const node = this.#named(anchor, { kind: 'sequence', items, line })
      if (isIndentless) this.#indentless(items)
      else if (token.type === 'flow sequence') this.#flowSequence(items)
      else this.#blockSequence(items)
      return node
    }
    if (token.type === 'flow mapping' || (place.isBlock && token.type === 'block mapping')) {
      const entries: (readonly [YamlNode, YamlNode])[] = []
      const node = this.#named(anchor, { kind: 'mapping', entries, line })
      if (token.type === 'flow mapping') this.#flowMapping(entries)
      else this.#blockMapping(entries)
      return node
    }
    if (anchor === '' && tag === '') throw unexpected('did not find expected node content', token.start, start)
    return this.#named(anchor, { kind: 'scalar', text: '', tag, isPlain: true, line })
  }

  #named<Node extends YamlNode>(anchor: string, node: Node): Node {
    if (anchor !== '') this.#anchors.set(anchor, node)
    return node
  }

  /** A node, or an absent one if one of these tokens follows. */
  #orAbsent(before: readonly TokenType[], mark: number, isIndentless: boolean): YamlNode {
    return this.#is(before) ? this.#absent(mark) : this.#node(isIndentless ? BELOW_KEY : IN_BLOCK)
  }

  #blockSequence(items: YamlNode[]): void {
    const { start } = this.#peek()
    this.#scanner.skip()
    for (let entry = this.#takeIf('block entry'); entry; entry = this.#takeIf('block entry')) {
      items.push(this.#orAbsent(AFTER_ENTRY, entry.end, false))
    }
    this.#expect('block end', "did not find expected '-' indicator", start)
  }

  /** The items of a key may have the same indentation as the key. */
  #indentless(items: YamlNode[]): void {
    for (let entry = this.#takeIf('block entry'); entry; entry = this.#takeIf('block entry')) {
      items.push(this.#orAbsent(AFTER_INDENTLESS_ENTRY, entry.end, false))
    }
  }

  #blockMapping(entries: (readonly [YamlNode, YamlNode])[]): void {
    const { start } = this.#peek()
    this.#scanner.skip()
    for (let sign = this.#takeIf('key'); sign; sign = this.#takeIf('key')) {
      this.#count(KEY_BYTES)
      const key = this.#orAbsent(AFTER_KEY, sign.end, true)
      const colon = this.#takeIf('value')
      entries.push([key, colon ? this.#orAbsent(AFTER_KEY, colon.end, true) : this.#absent(this.#peek().start)])
    }
    this.#expect('block end', 'did not find expected key', start)
  }

  #flowSequence(items: YamlNode[]): void {
    const { start } = this.#peek()
    this.#scanner.skip()
    while (!this.#takeIf('flow sequence end')) {
      if (items.length > 0) {
        this.#expect('flow entry', "did not find expected ',' or ']'", start)
        if (this.#takeIf('flow sequence end')) return
      }
      const sign = this.#takeIf('key')
      items.push(sign ? this.#pair(sign.start) : this.#flowNode())
    }
  }

  /** `[a: b]` is a list with a mapping. */
  #pair(line: number): YamlMapping {
    const isThere = !this.#is(AFTER_PAIR_KEY)
    const key = isThere ? this.#flowNode() : this.#absent(this.#peek().end)
    this.#count(KEY_BYTES)
    // The YAML reader of kube-apiserver drops the token after a missing key.
    if (!isThere) this.#scanner.skip()
    return { kind: 'mapping', entries: [[key, this.#flowValue(AFTER_PAIR)]], line: line + 1 }
  }

  #flowMapping(entries: (readonly [YamlNode, YamlNode])[]): void {
    const { start } = this.#peek()
    this.#scanner.skip()
    while (!this.#takeIf('flow mapping end')) {
      if (entries.length > 0) {
        this.#expect('flow entry', "did not find expected ',' or '}'", start)
        if (this.#takeIf('flow mapping end')) return
      }
      this.#count(KEY_BYTES)
      if (this.#takeIf('key')) {
        const isThere = !this.#is(AFTER_FLOW_KEY)
        const key = isThere ? this.#flowNode() : this.#absent(this.#peek().start)
        entries.push([key, this.#flowValue(AFTER_FLOW_VALUE)])
      } else {
        const key = this.#flowNode()
        entries.push([key, this.#absent(this.#peek().start)])
      }
    }
  }

  #flowValue(ends: readonly TokenType[]): YamlNode {
    const isThere = this.#takeIf('value') !== undefined && !this.#is(ends)
    return isThere ? this.#flowNode() : this.#absent(this.#peek().start)
  }

  #flowNode(): YamlNode {
    return this.#node(IN_FLOW)
  }
}

const absent = (line: number): YamlScalar => ({ kind: 'scalar', text: '', tag: '', isPlain: true, line: line + 1 })

const isSurelyText = (text: string): boolean => text.length > MAX_WORD_LENGTH && /^[a-z]/i.test(text)

/** These errors count lines from 0, as in kube-apiserver. */
function unexpected(problem: string, at: number, contextLine?: number): YamlError {
  return new YamlError(problem, at > 0 ? at : contextLine)
}
