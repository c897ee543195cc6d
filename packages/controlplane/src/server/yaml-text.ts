import { load, YAML11_SCHEMA, YAMLException } from 'js-yaml'
import type { ParsedBody } from './body.ts'
import { DEEPEST } from '../registry/json-text.ts'

/**
 * YAML as the real server reads it: `yes` is true and 0777 is octal, but a date stays text. A key that is there twice
 * counts the last time.
 */
export function readYaml(text: string): ParsedBody {
  try {
    // Not refused for a key that is there twice: the last counts, as in JSON.
    const value = new Expansion().jsonOf(load(text, { schema: YAML11_SCHEMA, json: true }), 0)
    return { value: value ?? {}, duplicates: [] }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const line = error.mark ? `line ${error.mark.line + 1}: ` : ''
    throw new Error(`yaml: ${line}${error.reason}`, { cause: error })
  }
}

// The real server's measure: the more there is to read, the less of it may come from aliases.
const FEW_NODES = 1000
const FEW_ALIASED = 100
const LOW_NODES = 400_000
const HIGH_NODES = 4_000_000
const HIGHEST_RATIO = 0.99
const LOWEST_RATIO = 0.1

/**
 * Makes JSON of what was loaded, in which an alias and its anchor are one and the same object. JSON has no aliases: each
 * is written out, and a few hundred bytes of aliases of aliases would become more than there is memory for.
 */
class Expansion {
  readonly #seen = new Set<object>()
  readonly #open = new Set<object>()
  #nodes = 0
  #aliased = 0
  #aliasDepth = 0

  jsonOf(value: unknown, depth: number): unknown {
    if (depth > DEEPEST) throw new Error('yaml: exceeded max depth')
    this.#count()
    if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? Number(value) : value
    if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
    if (this.#open.has(value)) throw new Error('yaml: an anchor contains itself')
    const isAlias = this.#seen.has(value)
    this.#seen.add(value)
    this.#open.add(value)
    if (isAlias) this.#aliasDepth++
    const json = this.#contents(value, depth)
    if (isAlias) this.#aliasDepth--
    this.#open.delete(value)
    return json
  }

  #contents(value: object, depth: number): unknown {
    if (Array.isArray(value)) return value.map((item) => this.jsonOf(item, depth + 1))
    const entries = value instanceof Map ? value.entries() : Object.entries(value)
    // Defined, not assigned: `__proto__` is a key like any other.
    return Object.fromEntries(
      [...entries].map(([key, item]) => {
        this.#count()
        return [String(key), this.jsonOf(item, depth + 1)]
      }),
    )
  }

  #count(): void {
    this.#nodes++
    if (this.#aliasDepth > 0) this.#aliased++
    if (this.#aliased <= FEW_ALIASED || this.#nodes <= FEW_NODES) return
    const excess = Math.min(Math.max(this.#nodes - LOW_NODES, 0) / (HIGH_NODES - LOW_NODES), 1)
    const allowed = HIGHEST_RATIO - (HIGHEST_RATIO - LOWEST_RATIO) * excess
    if (this.#aliased / this.#nodes > allowed) throw new Error('yaml: document contains excessive aliasing')
  }
}
