import type { Schema } from '../types.ts'

/** Returns whether a schema has rules. Checked before the engine is used, because most schemas have none. */
export function hasRules(schema: Schema): boolean {
  if (schema.rules && schema.rules.length > 0) return true
  if (schema.items && hasRules(schema.items)) return true
  if (typeof schema.additionalProperties === 'object' && hasRules(schema.additionalProperties)) return true
  return Object.values(schema.properties ?? {}).some(hasRules)
}
