import { OBJECT_META, resolveBuiltIn } from '../openapi/builtin.ts'
import type { Decoded } from './decode.ts'
import { decodeBuiltIn } from './decode.ts'

/** Every resource's metadata, custom or not, is the server's own type. */
export function decodeMetadata(metadata: unknown): Decoded {
  return decodeBuiltIn(resolveBuiltIn(OBJECT_META), resolveBuiltIn, metadata)
}
