import type { Schema } from '../types.ts'

/** Resolves the references of a custom resource's schema, which must not have any. */
export function noReferences(ref: string): Schema {
  throw new Error(`Cannot resolve ${ref}: the schema of a custom resource must not contain references.`)
}
