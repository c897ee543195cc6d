/**
 * Runs users' regular expressions, in RE2 syntax, in V8 without catastrophic backtracking: V8 switches to its linear engine
 * when it backtracks too much. That engine does not support the flags `u` and `i`, so translations avoid them.
 */
import v8 from 'node:v8'

import { LRUCache } from 'lru-cache'

v8.setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

const POSIX: ReadonlyMap<string, string> = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\x00-\\x7F'],
  ['blank', '\\t '],
  ['cntrl', '\\x00-\\x1F\\x7F'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@[-`{-~'],
  ['space', '\\t\\n\\v\\f\\r '],
  ['upper', 'A-Z'],
  ['word', '0-9A-Za-z_'],
  ['xdigit', '0-9A-Fa-f'],
])

const compiled = new LRUCache<string, RegExp | Error>({ max: 1000 })

/** Compiles a pattern, cached. Throws an Error with Go's text if RE2 rejects the pattern. */
export function compileRe2(pattern: string): RegExp {
  let found = compiled.get(pattern)
  if (found === undefined) {
    found = tryCompile(pattern)
    compiled.set(pattern, found)
  }
  if (found instanceof Error) throw found
  return found
}

function tryCompile(pattern: string): RegExp | Error {
  try {
    const { source, flags } = new Translator(pattern).translate()
    return new RegExp(source, flags)
  } catch (error) {
    if (error instanceof Re2Error) return error
    return new Re2Error(`invalid or unsupported expression: \`${pattern}\``)
  }
}

class Re2Error extends Error {
  constructor(detail: string) {
    super(`error parsing regexp: ${detail}`)
  }
}

class Translator {
  readonly #pattern: string
  #at = 0
  #out = ''
  #depth = 0
  #flags: readonly string[] = []
  readonly #outer: (readonly string[])[] = []
  #needsUnicode = false
  #canRepeat = false

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  translate(): { readonly source: string; readonly flags: string } {
    while (this.#at < this.#pattern.length) this.#step()
    if (this.#depth > 0) throw new Re2Error(`missing closing ): \`${this.#pattern}\``)
    return { source: this.#out, flags: this.#needsUnicode ? 'u' : '' }
  }

  #step(): void {
    const character = this.#pattern.charAt(this.#at)
    switch (character) {
      case '\\':
        this.#escape(false)
        this.#canRepeat = true
        return
      case '[':
        this.#class()
        this.#canRepeat = true
        return
      case '(':
        this.#group()
        this.#canRepeat = false
        return
      case ')':
        if (this.#depth === 0) throw new Re2Error(`unexpected ): \`${this.#pattern}\``)
        this.#depth -= 1
        this.#flags = this.#outer.pop() ?? []
        this.#emit(')')
        this.#canRepeat = true
        return
      case '*':
      case '+':
      case '?':
        this.#repeat(character)
        return
      case '{': {
        const count = /^\{(\d+)(,(\d*))?\}/.exec(this.#pattern.slice(this.#at))
        if (!count) {
          this.#emit('\\{', 1)
          this.#canRepeat = true
          return
        }
        const most = Number(count[3] === undefined || count[3] === '' ? count[1] : count[3])
        if (Number(count[1]) > 1000 || most > 1000 || (count[3] && most < Number(count[1]))) {
          throw new Re2Error(`invalid repeat count: \`${count[0]}\``)
        }
        this.#repeat(count[0])
        return
      }
      case '}':
      case ']':
        this.#emit(`\\${character}`, 1)
        this.#canRepeat = true
        return
      case '|':
        this.#emit('|')
        this.#canRepeat = false
        return
      case '.':
        this.#emit(this.#flags.includes('s') ? '[^]' : '[^\\n]', 1)
        this.#canRepeat = true
        return
      case '^':
        this.#emit(this.#flags.includes('m') ? '(?<![^\\n])' : '^', 1)
        return
      case '$':
        this.#emit(this.#flags.includes('m') ? '(?![^\\n])' : '$', 1)
        return
      default:
        this.#emit(this.#literal(character), 1)
        this.#canRepeat = true
    }
  }

  #emit(text: string, consumed = text.length): void {
    this.#out += text
    this.#at += consumed
  }

  #literal(character: string): string {
    if (this.#flags.includes('i')) {
      const lower = character.toLowerCase()
      const upper = character.toUpperCase()
      if (lower !== upper) return `[${lower}${upper}]`
    }
    return character === '/' ? '\\/' : character
  }

  #repeat(operator: string): void {
    if (!this.#canRepeat) throw new Re2Error(`missing argument to repetition operator: \`${operator}\``)
    this.#emit(operator)
    if (this.#pattern.charAt(this.#at) === '?') this.#emit('?')
    const next = /^([*+?]|\{\d+(,\d*)?\})/.exec(this.#pattern.slice(this.#at))
    if (next) throw new Re2Error(`invalid nested repetition operator: \`${operator}${next[0]}\``)
  }

  #group(): void {
    const rest = this.#pattern.slice(this.#at)
    if (!rest.startsWith('(?')) {
      this.#open('(', 1)
      return
    }
    const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(rest)
    if (named) {
      this.#open(`(?<${named[1]}>`, named[0].length)
      return
    }
    const flags = /^\(\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest)
    if (!flags) throw new Re2Error(`invalid or unsupported Perl syntax: \`${rest.slice(0, 3)}\``)
    const [whole, on = '', off = '', end] = flags
    const next = [...new Set([...this.#flags, ...on.split('')])].filter((flag) => !off.includes(flag))
    if (end === ':') this.#open('(?:', whole.length)
    else this.#at += whole.length
    this.#flags = next
  }

  #open(text: string, consumed: number): void {
    this.#outer.push(this.#flags)
    this.#depth += 1
    this.#out += text
    this.#at += consumed
  }

  #escape(inClass: boolean): void {
    const rest = this.#pattern.slice(this.#at)
    const property = /^\\([pP])(?:([A-Za-z])|\{\^?([A-Za-z_]+)\})/.exec(rest)
    if (property) {
      const [whole, letter, short, long] = property
      const name = short ?? long ?? ''
      const isCategory = /^(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfso]?)$/.test(name)
      const negated = (letter === 'P') !== whole.includes('^')
      this.#needsUnicode = true
      this.#out += `\\${negated ? 'P' : 'p'}{${isCategory ? name : `Script=${name}`}}`
      this.#at += whole.length
      return
    }
    const code = /^\\x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(rest)
    if (code) {
      const point = Number.parseInt(code[1] ?? code[2] ?? '', 16)
      if (point > 0xff_ff) this.#needsUnicode = true
      this.#out += point > 0xff_ff ? `\\u{${point.toString(16)}}` : `\\u${point.toString(16).padStart(4, '0')}`
      this.#at += code[0].length
      return
    }
    const quoted = /^\\Q([\s\S]*?)(?:\\E|$)/.exec(rest)
    if (quoted && !inClass) {
      this.#out += (quoted[1] ?? '').replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
      this.#at += quoted[0].length
      return
    }
    const next = rest.charAt(1)
    if (next === '') throw new Re2Error('trailing backslash at end of expression: ``')
    this.#out += this.#simpleEscape(next, inClass)
    this.#at += 2
  }

  #simpleEscape(next: string, inClass: boolean): string {
    if (!inClass && next === 'A') return '^'
    if (!inClass && next === 'z') return '$'
    if (next === 'a') return '\\x07'
    // RE2's \s excludes \v and non-ASCII whitespace.
    if (next === 's') return inClass ? '\\t\\n\\f\\r ' : '[\\t\\n\\f\\r ]'
    if (next === 'S' && !inClass) return '[^\\t\\n\\f\\r ]'
    if ('dDwWtnrfv'.includes(next)) return `\\${next}`
    if (!inClass && (next === 'b' || next === 'B')) return `\\${next}`
    if (/[0-7]/.test(next) && !/[1-9]/.test(next)) return '\\x00'
    if (/[A-Za-z0-9]/.test(next)) throw new Re2Error(`invalid escape sequence: \`\\${next}\``)
    return /[\\^$.*+?()[\]{}|/-]/.test(next) ? `\\${next}` : next
  }

  #class(): void {
    const start = this.#at
    this.#out += '['
    this.#at += 1
    if (this.#pattern.charAt(this.#at) === '^') {
      this.#out += '^'
      this.#at += 1
    }
    for (let isFirst = true; ; isFirst = false) {
      const rest = this.#pattern.slice(this.#at)
      if (rest === '') throw new Re2Error(`missing closing ]: \`${this.#pattern.slice(start)}\``)
      const posix = /^\[:(\^?)(\w+):\]/.exec(rest)
      if (posix) {
        const set = POSIX.get(posix[2] ?? '')
        if (set === undefined || posix[1]) throw new Re2Error(`invalid character class range: \`${posix[0]}\``)
        this.#out += set
        this.#at += posix[0].length
      } else if (rest.startsWith('\\')) this.#escape(true)
      else if (rest.startsWith(']') && !isFirst) break
      else {
        this.#classCharacters(rest)
      }
    }
    this.#out += ']'
    this.#at += 1
  }

  /** Translates a character or a range. Letters of both cases are listed because the flag `i` is not used. */
  #classCharacters(rest: string): void {
    const range = /^([^\\\]])-([^\\\]])/.exec(rest)
    const [whole, from, to] = range ?? [rest.charAt(0), rest.charAt(0), rest.charAt(0)]
    if (from === undefined || to === undefined || from > to) {
      throw new Re2Error(`invalid character class range: \`${whole}\``)
    }
    this.#out += write(from, to)
    if (this.#flags.includes('i') && /[A-Za-z]/.test(from) && /[A-Za-z]/.test(to)) {
      this.#out += write(from.toLowerCase(), to.toLowerCase()) + write(from.toUpperCase(), to.toUpperCase())
    }
    this.#at += whole.length
  }
}

/** Writes a range of a character class. */
function write(from: string, to: string): string {
  return from === to ? guard(from) : `${guard(from)}-${guard(to)}`
}

function guard(character: string): string {
  return /[\\[\]^/-]/.test(character) ? `\\${character}` : character
}
