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
    const value = jsonOf(load(text, { schema: YAML11_SCHEMA, json: true }), 0)
    return { value: value ?? {}, duplicates: [] }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const line = error.mark ? `line ${error.mark.line + 1}: ` : ''
    throw new Error(`yaml: ${line}${error.reason}`, { cause: error })
  }
}

function jsonOf(value: unknown, depth: number): unknown {
  if (depth > DEEPEST) throw new Error('yaml: exceeded max depth')
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? Number(value) : value
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, depth + 1))
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  const entries = value instanceof Map ? value.entries() : Object.entries(value)
  // Defined, not assigned: `__proto__` is a key like any other.
  return Object.fromEntries([...entries].map(([key, item]) => [String(key), jsonOf(item, depth + 1)]))
}
