import { OBJECT_META, resolveBuiltIn } from '../openapi/builtin.ts'
import type { DecodeResult } from './decode.ts'
import { decodeBuiltIn } from './decode.ts'

/** Metadata has the same built-in type for all resources, also for custom ones. */
export function decodeMetadata(metadata: unknown): DecodeResult {
  return decodeBuiltIn(resolveBuiltIn(OBJECT_META), resolveBuiltIn, metadata)
}
