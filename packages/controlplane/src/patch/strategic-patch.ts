import { isJsonObject, type JsonObject, ownValue, setOwnValue } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'

import { badRequest } from '../errors.ts'
import type { Schema } from '../schema/types.ts'
import { unclassified } from './errors.ts'
import { goKind, goValue } from './go-format.ts'
import { isList, MAX_DEPTH, omit } from './json.ts'
import { PatchSchema } from './patch-schema.ts'
import { badSetElementOrder, checkOrder, DIRECTIVE, mergeLists, order, wrongType } from './strategic-list.ts'

const SET_ELEMENT_ORDER = '$setElementOrder'
const DELETE_FROM_LIST = '$deleteFromPrimitiveList'
const RETAIN_KEYS = '$retainKeys'

/** Kubernetes strategic merge: a merge patch in which the schema decides how lists merge and directives remove parts. */
export function applyStrategicPatch(
  object: KubeObject,
  patch: unknown,
  schema: Schema,
  resolve: (ref: string) => Schema,
): KubeObject {
  if (patch === null || patch === undefined) return object
  if (!isJsonObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${goKind(patch)} into Go value of type map[string]interface {}`)
  }
  return mergeMap({ ...object }, patch, new PatchSchema(schema, resolve, object.kind), 0)
}

function mergeMap(original: JsonObject, patch: JsonObject, schema: PatchSchema, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw badRequest('exceeded max depth')
  if (Object.hasOwn(patch, DIRECTIVE)) {
    const directive = patch[DIRECTIVE]
    if (directive === 'replace') return omit(patch, [DIRECTIVE])
    if (directive === 'delete') return {}
    throw unclassified(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`)
  }
  const merged: Record<string, unknown> = { ...retained(original, patch) }
  const done = mergeOrderedLists(merged, patch, schema, depth)
  for (const patchKey of Object.keys(patch)) {
    if (patchKey === RETAIN_KEYS || patchKey.startsWith(SET_ELEMENT_ORDER) || done.has(patchKey)) continue
    const isDeleteList = patchKey.startsWith(DELETE_FROM_LIST)
    const key = isDeleteList ? listKey(patchKey, DELETE_FROM_LIST) : patchKey
    const wanted = patch[patchKey]
    if (wanted === null) {
      delete merged[key]
      continue
    }
    const current = ownValue(merged, key)
    if (isJsonObject(current) && isJsonObject(wanted)) {
      const field = schema.forField(key)
      setOwnValue(
        merged,
        key,
        field.strategy === 'replace' ? wanted : mergeMap(current, wanted, field.schema, depth + 1),
      )
    } else if (isList(current) && isList(wanted)) {
      setOwnValue(merged, key, mergeListField(current, wanted, schema, { key, isDeleteList, depth }))
    } else if (!isDeleteList) {
      const clean = withoutDirectives(wanted, depth + 1)
      if (clean === undefined) delete merged[key]
      else setOwnValue(merged, key, clean)
    }
  }
  return merged
}

interface ListField {
  readonly key: string
  readonly isDeleteList: boolean
  readonly depth: number
}

function mergeListField(
  current: readonly unknown[],
  wanted: readonly unknown[],
  schema: PatchSchema,
  { key, isDeleteList, depth }: ListField,
): readonly unknown[] {
  const { schema: items, strategy, mergeKey } = schema.forList(key)
  if (isDeleteList && !wanted.some(isJsonObject)) {
    const gone = new Set(wanted)
    return current.filter((item) => !gone.has(item))
  }
  if (strategy !== 'merge' && !isDeleteList) return wanted
  return mergeLists(current, wanted, items, mergeKey, (element, change) => mergeMap(element, change, items, depth + 1))
}

/** `$retainKeys`: only the named keys stay, and the patch may set no others. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return original
  const list = patch[RETAIN_KEYS]
  if (!isList(list)) throw badRequest('invalid patch format of retainKeys')
  const keys = new Set(list)
  for (const key of Object.keys(patch)) {
    if (key === RETAIN_KEYS || patch[key] === null) continue
    if (key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ELEMENT_ORDER) || keys.has(key)) continue
    throw badRequest('invalid patch format of retainKeys')
  }
  return omit(
    original,
    Object.keys(original).filter((key) => !keys.has(key)),
  )
}

/** Merges the lists ordered by `$setElementOrder/…`; returns their keys. */
function mergeOrderedLists(
  merged: Record<string, unknown>,
  patch: JsonObject,
  schema: PatchSchema,
  depth: number,
): ReadonlySet<string> {
  const done = new Set<string>()
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(SET_ELEMENT_ORDER)) continue
    const wantedOrder = patch[directive]
    if (!isList(wantedOrder)) throw wrongType([], wantedOrder)
    const key = listKey(directive, SET_ELEMENT_ORDER)
    const current = listAt(merged, key)
    const wanted = listAt(patch, key)
    const { mergeKey } = schema.forList(key)
    checkOrder(wanted ?? [], wantedOrder, mergeKey)
    let list: readonly unknown[]
    if (current && wanted) {
      list = mergeListField(current, wanted, schema, { key, isDeleteList: false, depth })
    } else if (wanted) {
      list = withoutDirectives(wanted, depth + 1) as readonly unknown[]
    } else if (current) {
      list = current
    } else {
      continue
    }
    setOwnValue(merged, key, order(list, current ?? [], wanted ?? [], wantedOrder, mergeKey))
    done.add(key)
  }
  return done
}

function listAt(object: JsonObject, key: string): readonly unknown[] | undefined {
  if (!Object.hasOwn(object, key)) return undefined
  const value = object[key]
  if (!isList(value)) throw wrongType([], value)
  return value
}

/** `$setElementOrder/containers` → `containers`. */
function listKey(directive: string, prefix: string): string {
  if (!directive.startsWith(`${prefix}/`)) {
    throw prefix === SET_ELEMENT_ORDER ? badSetElementOrder() : badRequest('invalid patch format of primitive list')
  }
  return directive.slice(prefix.length + 1)
}

/** A new value without null members and merge directives; undefined if the value is itself a directive. */
function withoutDirectives(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw badRequest('exceeded max depth')
  if (isList(value)) {
    return value.map((item) => withoutDirectives(item, depth + 1)).filter((item) => item !== undefined)
  }
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, DIRECTIVE)) return undefined
  const clean: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    if (value[key] === null) continue
    const member = withoutDirectives(value[key], depth + 1)
    if (member !== undefined) setOwnValue(clean, key, member)
  }
  return clean
}
