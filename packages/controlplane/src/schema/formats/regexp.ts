/**
 * Users' regular expressions, in RE2 syntax and in linear time. V8 must not run them: its linear engine does not take
 * `\p{…}`, `(?m)` and counted repetition, and its other engine can hang on them.
 */
import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

/** Maximum `estimatedCost` of a pattern. Go allows more, but compiles faster. */
export const MAX_PATTERN_COST = 10_000

/** Maximum instructions of all cached patterns, about 40 MB. */
const MAX_CACHED_SIZE = 200_000

export class Pattern {
  /** The number of instructions: matching takes at most about `size` steps per character. */
  readonly size: number
  readonly #compiled: RE2JS

  constructor(source: string) {
    this.#compiled = RE2JS.compile(source)
    this.size = this.#compiled.programSize()
  }

  /** Whether some part of the text matches. */
  test(text: string): boolean {
    return this.#compiled.test(text)
  }

  /** The first match. */
  find(text: string): string | undefined {
    const matcher = this.#compiled.matcher(text)
    return matcher.find() ? (matcher.group() ?? undefined) : undefined
  }

  /** All matches in order, without empty ones that touch the match before, as in Go. Calls `search` before each search. */
  findAll(text: string, search: (remaining: number) => void): string[] {
    const matcher = this.#compiled.matcher(text)
    const found: string[] = []
    let end = -1
    for (;;) {
      search(text.length - Math.max(end, 0))
      if (!matcher.find()) return found
      if (matcher.end() > matcher.start() || matcher.start() !== end) found.push(matcher.group() ?? '')
      end = matcher.end()
    }
  }
}

const compiled = new LRUCache<string, Pattern | Error>({
  maxSize: MAX_CACHED_SIZE,
  sizeCalculation: (pattern) => (pattern instanceof Error ? 1 : pattern.size),
})

/** Compiles a pattern, cached. Throws an Error with Go's text if RE2 rejects the pattern. */
export function compileRe2(source: string): Pattern {
  let found = compiled.get(source)
  if (found === undefined) {
    found = tryCompile(source)
    compiled.set(source, found)
  }
  if (found instanceof Error) throw found
  return found
}

function tryCompile(source: string): Pattern | Error {
  if (estimatedCost(source) > MAX_PATTERN_COST) return new Error('error parsing regexp: expression too large')
  try {
    return new Pattern(source)
  } catch (error) {
    const { message } = error as Error
    return new Error(message.endsWith('at end of expression') ? `${message}: \`\`` : message)
  }
}

/** The cost of compiling any pattern, and of a class of Unicode characters, in instructions. */
const BASE_COST = 50
const UNICODE_CLASS_COST = 50

const UNICODE_CLASS = /\\[pP]/g
const REPEAT = /\{(\d+)(?:,(\d*))?\}/y
const ESCAPE = /\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|x..|.)/suy
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?/suy

/**
 * About as many instructions as the pattern compiles to, found without expanding its repetitions: `(a{1000}){1000}` is
 * short. Parts that are slow to compile count more. One unit takes about 2 µs.
 */
export function estimatedCost(source: string): number {
  const outer: number[] = []
  let size = 0
  /** The size of the last atom, which a repetition multiplies. */
  let last = 0
  for (let at = 0; at < source.length; at++) {
    const letter = source.charAt(at)
    let atom = 1
    if (letter === '(') {
      outer.push(size)
      size = 1
      last = 0
      continue
    }
    if (letter === ')') {
      atom = size + 1
      size = outer.pop() ?? 0
    } else if (letter === '{') {
      const repeat = matchAt(REPEAT, source, at)
      if (repeat) {
        const [whole, least = '', most = ''] = repeat
        // Higher counts are refused when the pattern is parsed.
        const copies = Math.min(Math.max(Number(least), Number(most), 1), 1001)
        // Each copy beyond the least count is optional, which takes an instruction.
        const repeated = last * copies + Math.max(copies - Number(least), 0)
        size += repeated - last
        last = repeated
        at += whole.length - 1
        continue
      }
    } else if (letter === '\\') at += (matchAt(ESCAPE, source, at)?.[0].length ?? 1) - 1
    else if (letter === '[') at += (matchAt(CLASS, source, at)?.[0].length ?? 1) - 1
    last = atom
    size += atom
  }
  const classes = source.match(UNICODE_CLASS)?.length ?? 0
  return outer.reduce((sum, one) => sum + one, BASE_COST + classes * UNICODE_CLASS_COST + size)
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at
  return expression.exec(text)
}
