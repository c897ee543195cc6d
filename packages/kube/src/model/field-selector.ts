import { TenureError } from '../errors/errors.ts'
import type { KubeObject } from './object.ts'

interface Term {
  readonly path: string
  readonly keys: readonly string[]
  readonly equal: boolean
  readonly value: string
}

/** A parsed field selector: `metadata.name=web,status.phase!=Running`. */
export class FieldMatcher {
  readonly #terms: readonly Term[]

  private constructor(terms: readonly Term[]) {
    this.#terms = terms
  }

  /** The empty string selects everything. A comma, `=` or backslash in a value is escaped with a backslash. */
  static parse(text: string): FieldMatcher {
    return new FieldMatcher(split(text).map((term) => parseTerm(text, term)))
  }

  /** True if everything is selected. */
  get isEmpty(): boolean {
    return this.#terms.length === 0
  }

  /** A missing field counts as empty, or as the zero value that the server uses. */
  matches(object: KubeObject): boolean {
    return this.#terms.every(({ path, keys, equal, value }) => (fieldOf(object, path, keys) === value) === equal)
  }

  toString(): string {
    return this.#terms.map(({ path, equal, value }) => `${path}${equal ? '=' : '!='}${escape(value)}`).join(',')
  }
}

/** Fields that the server can select by, and omits from objects if they are zero. */
const ZEROS = new Map([
  ['spec.unschedulable', 'false'],
  ['spec.hostNetwork', 'false'],
  ['status.replicas', '0'],
])

function fieldOf(object: KubeObject, path: string, keys: readonly string[]): string {
  let value: unknown = object
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return ZEROS.get(path) ?? ''
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''
}

/** Splits at commas that are not escaped. Empty parts, as after a trailing comma, are dropped. */
function split(text: string): string[] {
  const terms: string[] = []
  let term = ''
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (letter === ',') {
      terms.push(term)
      term = ''
    } else if (letter === '\\') term += letter + text.charAt(++at)
    else term += letter
  }
  return [...terms, term].filter((part) => part !== '')
}

function parseTerm(text: string, term: string): Term {
  const match = /^([^=!\\]+)(==|!=|=)(.*)$/s.exec(term)
  const [, path = '', operator, value = ''] = match ?? []
  if (!operator) throw invalid(text, `"${term}" is neither field=value nor field!=value`)
  return { path, keys: path.split('.'), equal: operator !== '!=', value: unescape(text, value) }
}

function unescape(text: string, value: string): string {
  let result = ''
  for (let at = 0; at < value.length; at++) {
    const letter = value.charAt(at)
    if (letter === '\\') {
      const escaped = value.charAt(++at)
      if (escaped !== '\\' && escaped !== ',' && escaped !== '=')
        throw invalid(text, `"\\${escaped}" is not a valid escape`)
      result += escaped
    } else if (letter === '=') throw invalid(text, 'a "=" in a value needs a backslash before it')
    else result += letter
  }
  return result
}

function escape(value: string): string {
  return value.replaceAll(/[\\,=]/g, String.raw`\$&`)
}

function invalid(selector: string, why: string): TenureError {
  return new TenureError(
    'TENURE_SELECTOR_INVALID',
    `The field selector "${selector}" cannot be parsed: ${why}. Write it like "metadata.name=web,status.phase!=Running".`,
  )
}
