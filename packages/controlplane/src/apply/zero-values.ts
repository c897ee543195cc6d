import { isJsonObject } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'

import { isEmptyObject } from '../patch/json.ts'
import { refOf } from '../patch/patch-schema.ts'
import type { Schema } from '../schema/types.ts'
import { isBuiltIn } from './fields/structure.ts'

const zeros = new WeakMap<Schema, Readonly<Record<string, unknown>>>()

/**
 * The fields of an empty object of a built-in kind: Go writes structs and required fields even when they are empty, and
 * the creator of the object does not own them. Custom kinds have none.
 */
export function zeroValueOf(schema: Schema | undefined, resolve: (ref: string) => Schema, as: KubeObject): KubeObject {
  const { apiVersion, kind } = as
  const type = { ...(apiVersion !== undefined && { apiVersion }), ...(kind !== undefined && { kind }) }
  return schema && isBuiltIn(schema) ? { ...zeroStruct(schema, resolve), ...type } : type
}

function zeroStruct(schema: Schema, resolve: (ref: string) => Schema): Readonly<Record<string, unknown>> {
  const known = zeros.get(schema)
  if (known) return known
  const zero: Record<string, unknown> = {}
  zeros.set(schema, zero)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const { default: initial, omitEmpty } = property
    if (initial === undefined || omitEmpty) continue
    const ref = refOf(property)
    const isStruct = ref !== undefined && isJsonObject(initial) && isEmptyObject(initial)
    zero[name] = isStruct ? zeroStruct(resolve(ref), resolve) : initial
  }
  return zero
}
