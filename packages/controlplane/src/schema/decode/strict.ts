import { duplicateField, unknownField } from './decode.ts'

/** Finds duplicate fields in a JSON text, which parsing hides. `fieldValidation` Strict and Warn report them. */

/** Returns whether `text`, which was parsed to `value`, has a duplicate field. Cheap enough for every request. */
export function hasDuplicateFields(text: string, value: unknown): boolean {
  return namesIn(text) !== namesOf(value)
}

function namesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += namesOf(item)
  else {
    for (const key in value) count += 1 + namesOf((value as Readonly<Record<string, unknown>>)[key])
  }
  return count
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

function namesIn(text: string): number {
  let count = 0
  let at = text.indexOf('"')
  while (at >= 0) {
    let end = at + 1
    for (;;) {
      end = text.indexOf('"', end)
      if (end < 0) return count
      let slashes = 0
      while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
      if (slashes % 2 === 0) break
      end += 1
    }
    let next = end + 1
    while (text.charCodeAt(next) <= 32) next += 1
    if (text.charCodeAt(next) === COLON) count += 1
    at = text.indexOf('"', end + 1)
  }
  return count
}

/** Returns the errors of strict decoding in the order of the text: duplicate fields and the given unknown ones, each once. */
export function strictErrors(text: string, unknown: readonly string[]): readonly string[] {
  const unknownPaths = new Set(unknown)
  const errors = new Set<string>()
  const scanner = new Scanner(text, (path, isDuplicate) => {
    if (unknownPaths.has(path)) errors.add(unknownField(path))
    else if (isDuplicate && !isWithin(path, unknownPaths)) errors.add(duplicateField(path))
  })
  scanner.scan()
  for (const path of unknown) errors.add(unknownField(path))
  return [...errors].slice(0, 100)
}

/** kube-apiserver does not look into unknown fields. */
function isWithin(path: string, unknownPaths: ReadonlySet<string>): boolean {
  for (const prefix of unknownPaths) if (path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`)) return true
  return false
}

/** Scans valid JSON and reports each field with its path. */
class Scanner {
  readonly #text: string
  readonly #found: (path: string, isDuplicate: boolean) => void
  #at = 0

  constructor(text: string, found: (path: string, isDuplicate: boolean) => void) {
    this.#text = text
    this.#found = found
  }

  scan(): void {
    this.#value('', 0)
  }

  #value(path: string, depth: number): void {
    this.#space()
    const character = this.#text.charAt(this.#at)
    if (depth > 1000) this.#at = this.#text.length
    else if (character === '{') this.#object(path, depth)
    else if (character === '[') this.#list(path, depth)
    else if (character === '"') this.#string()
    else while (this.#at < this.#text.length && !/[,\]}\s]/.test(this.#text.charAt(this.#at))) this.#at += 1
  }

  #object(path: string, depth: number): void {
    const seen = new Set<string>()
    this.#at += 1
    for (this.#space(); this.#at < this.#text.length && this.#text.charAt(this.#at) !== '}'; this.#space()) {
      const name = this.#string()
      const child = path === '' ? name : `${path}.${name}`
      this.#found(child, seen.has(name))
      seen.add(name)
      this.#space()
      this.#at += 1
      this.#value(child, depth + 1)
      this.#space()
      if (this.#text.charAt(this.#at) === ',') this.#at += 1
    }
    this.#at += 1
  }

  #list(path: string, depth: number): void {
    this.#at += 1
    this.#space()
    for (let index = 0; this.#at < this.#text.length && this.#text.charAt(this.#at) !== ']'; index += 1) {
      this.#value(`${path}[${index}]`, depth + 1)
      this.#space()
      if (this.#text.charAt(this.#at) === ',') this.#at += 1
      this.#space()
    }
    this.#at += 1
  }

  #string(): string {
    const start = this.#at
    this.#at += 1
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) !== QUOTE) {
      this.#at += this.#text.charCodeAt(this.#at) === BACKSLASH ? 2 : 1
    }
    this.#at += 1
    return JSON.parse(this.#text.slice(start, this.#at)) as string
  }

  #space(): void {
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) <= 32) this.#at += 1
  }
}
