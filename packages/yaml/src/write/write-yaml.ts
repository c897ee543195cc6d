/** Writes YAML as Kubernetes' Go code does. */
import { goFloat } from '../go-float.ts'
import { isResolvedAsString } from '../read/resolve.ts'
import { compareKeys } from './key-order.ts'
import { analyzeScalar } from './scalar-analysis.ts'
import type { ScalarAnalysis } from './scalar-analysis.ts'

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

/** Returns one document, with a newline at its end. Throws an Error if the value is nested too deep. */
export function writeYaml(value: YamlValue, options: YamlWriteOptions = {}): string {
  const emitter = new Emitter(options.style === 'pretty')
  emitter.node(value, { isInMapping: false, isKey: false }, 0)
  return emitter.finish()
}

interface Place {
  readonly isInMapping: boolean
  readonly isKey: boolean
}

type Style = 'plain' | 'single' | 'double' | 'literal'

const BREAKS = /[\n\r\u0085\u2028\u2029]/
const isBreak = (character: string): boolean => BREAKS.test(character)

const IN_SEQUENCE: Place = { isInMapping: false, isKey: false }
const IN_MAPPING: Place = { isInMapping: true, isKey: false }
const AS_KEY: Place = { isInMapping: true, isKey: true }

class Emitter {
  readonly #isPretty: boolean
  #out = ''
  #column = 0
  #indent = -1
  /** Whether the last character was white space. */
  #isAfterSpace = true
  /** Whether the line has only indentation and indicators so far. */
  #isIndention = true

  constructor(isPretty: boolean) {
    this.#isPretty = isPretty
  }

  finish(): string {
    this.#writeIndent()
    return this.#out
  }

  node(value: YamlValue, place: Place, depth: number): void {
    if (depth > MAX_WRITE_DEPTH) throw new Error('yaml: exceeded max depth')
    if (value === null) this.#plain('null', place)
    else if (typeof value === 'string') this.#string(value, place)
    else if (typeof value === 'number') this.#plain(this.#number(value), place)
    else if (typeof value !== 'object') this.#plain(String(value), place)
    else if (value instanceof Uint8Array) this.#binary(value, place)
    else if (isList(value)) this.#sequence(value, place, depth)
    else this.#mapping(value instanceof Map ? value : new Map(Object.entries(value)), depth)
  }

  #number(value: number): string {
    if (Number.isNaN(value)) return '.nan'
    if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
    // sigs.k8s.io/yaml goes through JSON, in which a float without a fraction is an integer.
    if (!this.#isPretty && Number.isInteger(value) && Math.abs(value) < 1e21) {
      const whole = BigInt(value)
      if (whole >= -(2n ** 63n) && whole < 2n ** 64n) return whole.toString()
    }
    return goFloat(value)
  }

  #put(text: string, columns: number): void {
    this.#out += text
    this.#column += columns
  }

  #break(): void {
    this.#out += '\n'
    this.#column = 0
    if (this.#isPretty) this.#isIndention = true
  }

  #writeIndent(): void {
    const indent = Math.max(this.#indent, 0)
    if (!this.#isIndention || this.#column > indent || (this.#column === indent && !this.#isAfterSpace)) this.#break()
    if (this.#column < indent) this.#put(' '.repeat(indent - this.#column), indent - this.#column)
    this.#isAfterSpace = true
    this.#isIndention = true
  }

  #indicator(text: string, needsSpace: boolean, isIndention: boolean): void {
    if (needsSpace && !this.#isAfterSpace) this.#put(' ', 1)
    this.#put(text, text.length)
    this.#isAfterSpace = false
    this.#isIndention &&= isIndention
  }

  /** Runs with a larger indentation. */
  #indented(isFlow: boolean, isIndentless: boolean, write: () => void): void {
    const outer = this.#indent
    if (outer < 0) this.#indent = isFlow ? INDENT : 0
    else if (!isIndentless) this.#indent += INDENT
    write()
    this.#indent = outer
  }

  #sequence(items: readonly YamlValue[], place: Place, depth: number): void {
    if (items.length === 0) return this.#empty('[', ']')
    const isIndentless = !this.#isPretty && place.isInMapping && !this.#isIndention
    this.#indented(false, isIndentless, () => {
      for (const item of items) {
        this.#writeIndent()
        this.#indicator('-', true, true)
        this.node(item, IN_SEQUENCE, depth + 1)
      }
    })
  }

  #empty(open: string, close: string): void {
    this.#indicator(open, true, false)
    this.#indicator(close, false, false)
  }

  #mapping(map: ReadonlyMap<string, YamlValue>, depth: number): void {
    if (map.size === 0) return this.#empty('{', '}')
    const keys = sortedKeys(map, this.#isPretty)
    this.#indented(false, false, () => {
      for (const key of keys) {
        this.#writeIndent()
        const isSimple = !BREAKS.test(key) && Buffer.byteLength(key) <= MAX_SIMPLE_KEY_BYTES
        if (isSimple) {
          this.#string(key, AS_KEY)
          this.#indicator(':', false, false)
        } else {
          this.#indicator('?', true, true)
          this.#string(key, IN_MAPPING)
          this.#writeIndent()
          this.#indicator(':', true, true)
        }
        this.node(map.get(key) ?? null, IN_MAPPING, depth + 1)
      }
    })
  }

  #plain(text: string, place: Place): void {
    this.#indented(true, false, () => this.#writePlain(text, !place.isKey))
  }

  #binary(bytes: Uint8Array, place: Place): void {
    if (!this.#isAfterSpace) this.#put(' ', 1)
    this.#put('!!binary', 8)
    this.#isAfterSpace = false
    this.#isIndention = false
    this.#plain(Buffer.from(bytes).toString('base64'), place)
  }

  #string(text: string, place: Place): void {
    const analysis = analyzeScalar(text, this.#isPretty)
    const style = this.#style(text, analysis, place)
    this.#indented(true, false, () => {
      if (style === 'plain') this.#writePlain(text, !place.isKey)
      else if (style === 'single') this.#writeSingle(text, !place.isKey)
      else if (style === 'double') this.#writeDouble(text, !place.isKey)
      else this.#writeLiteral(text)
    })
  }

  #style(text: string, analysis: ScalarAnalysis, place: Place): Style {
    let style: Style = text.includes('\n') ? 'literal' : isResolvedAsString(text) ? 'plain' : 'double'
    if (place.isKey && analysis.isMultiline) style = 'double'
    if (style === 'plain' && (!analysis.isPlainAllowed || (text === '' && place.isKey))) style = 'single'
    if (style === 'single' && !analysis.isSingleQuotedAllowed) style = 'double'
    if (style === 'literal' && (!analysis.isBlockAllowed || place.isKey)) style = 'double'
    return style
  }

  #isFull(): boolean {
    return !this.#isPretty && this.#column > FOLD_WIDTH
  }

  #writePlain(text: string, isFolded: boolean): void {
    if (!this.#isAfterSpace && (text !== '' || !this.#isPretty)) this.#put(' ', 1)
    this.#writeFolded(text, isFolded, (character, next) => character === ' ' && next !== ' ')
    this.#isAfterSpace = false
    this.#isIndention = false
  }

  #writeSingle(text: string, isFolded: boolean): void {
    this.#indicator("'", true, false)
    const characters = Array.from(text.replaceAll("'", "''"))
    const last = characters.length - 1
    this.#writeFolded(characters.join(''), isFolded, (character, next, index) => {
      return character === ' ' && next !== ' ' && index > 0 && index < last
    })
    this.#indicator("'", false, false)
    this.#isAfterSpace = false
    this.#isIndention = false
  }

  /** Writes text; a space at the end of a full line becomes a break. Only unusual line breaks occur in it. */
  #writeFolded(
    text: string,
    isFolded: boolean,
    canBreakAt: (character: string, next: string, index: number) => boolean,
  ): void {
    if ((!isFolded || this.#isPretty || this.#column + text.length <= FOLD_WIDTH) && !BREAKS.test(text)) {
      this.#put(text, text.length)
      this.#isIndention = false
      return
    }
    const characters = Array.from(text)
    let wasSpace = false
    let wasBreak = false
    for (const [index, character] of characters.entries()) {
      if (isBreak(character)) {
        this.#out += character
        this.#column = 0
        this.#isIndention = true
        wasBreak = true
        continue
      }
      if (wasBreak && character !== ' ') this.#writeIndent()
      wasBreak &&= character === ' '
      if (!wasSpace && this.#isFull() && canBreakAt(character, characters[index + 1] ?? '', index)) this.#writeIndent()
      else {
        this.#put(character, 1)
        if (character !== ' ') this.#isIndention = false
      }
      wasSpace = character === ' '
    }
  }

  #writeDouble(text: string, isFolded: boolean): void {
    this.#indicator('"', true, false)
    const characters = Array.from(text)
    // The library escapes all characters of a text that begins with a byte order mark.
    const isAllEscaped = text.startsWith('\uFEFF')
    let wasSpace = false
    for (const [index, character] of characters.entries()) {
      if (character !== ' ' || isAllEscaped) {
        const escaped = isAllEscaped ? codeOf(character.codePointAt(0) ?? 0) : escapeCharacter(character)
        this.#put(escaped, escaped === character ? 1 : escaped.length)
        wasSpace = false
        continue
      }
      const isInside = index > 0 && index < characters.length - 1
      if (isFolded && !wasSpace && this.#isFull() && isInside) {
        this.#writeIndent()
        if (characters[index + 1] === ' ') this.#put('\\', 1)
      } else this.#put(' ', 1)
      wasSpace = true
    }
    this.#indicator('"', false, false)
    this.#isAfterSpace = false
    this.#isIndention = false
  }

  #writeLiteral(text: string): void {
    this.#indicator('|', true, false)
    if (/^[ \n\r\u0085\u2028\u2029]/.test(text)) this.#indicator(String(INDENT), false, false)
    const chomping = /[\n\r\u0085\u2028\u2029]{2}$|^[\n\r\u0085\u2028\u2029]$/.test(text)
      ? '+'
      : /[\n\r\u0085\u2028\u2029]$/.test(text)
        ? ''
        : '-'
    if (chomping !== '') this.#indicator(chomping, false, false)
    this.#break()
    this.#isIndention = true
    this.#isAfterSpace = true
    // Every break but that of the last line is followed by indentation; empty lines have none.
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      if (line !== '') {
        this.#writeIndent()
        this.#put(line, line.length)
        this.#isIndention = false
      }
      if (index < lines.length - 1) {
        this.#break()
        this.#isIndention = true
      }
    }
  }
}

const isList = (value: YamlValue): value is readonly YamlValue[] => Array.isArray(value)

/** Go's order of some keys is a circle. They are sorted by code first, so that equal maps have equal texts. */
function sortedKeys(map: ReadonlyMap<string, YamlValue>, areDigitsFirst: boolean): readonly string[] {
  return [...map.keys()].toSorted().toSorted((a, b) => compareKeys(a, b, areDigitsFirst))
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\u001B', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0085', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
])

function escapeCharacter(character: string): string {
  const escape = ESCAPES.get(character)
  if (escape !== undefined) return escape
  const point = character.codePointAt(0) ?? 0
  if ((point >= 0x20 && point <= 0x7e) || (point >= 0xa0 && point <= 0xfffd && point !== 0xfeff)) return character
  return codeOf(point)
}

function codeOf(point: number): string {
  if (point <= 0xff) return `\\x${hex(point, 2)}`
  return point <= 0xffff ? `\\u${hex(point, 4)}` : `\\U${hex(point, 8)}`
}

const hex = (point: number, digits: number): string => point.toString(16).toUpperCase().padStart(digits, '0')
