/** sprig's functions on dictionaries. */
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { sortedKeys } from '../values/sorted-keys.ts'
import { typeOf } from '../values/types.ts'
import { GoList, itemsOf, NamedMap, stringList } from '../values/values.ts'
import type { GoMap, GoValue } from '../values/values.ts'
import { isEmpty, stringValue } from './conversions.ts'
import { fn, variadic } from './define.ts'

const MAX_COPY_DEPTH = 1000

function dict(values: readonly GoValue[]): GoMap {
  const result: GoMap = new Map()
  for (let index = 0; index < values.length; index += 2) {
    result.set(stringValue(values[index]), index + 1 < values.length ? nonMissing(values[index + 1]) : '')
  }
  return result
}

const nonMissing = (value: GoValue): GoValue => (value === undefined ? null : value)

/** Merges `source` into `target` as mergo does: without `isOverwriting`, only empty values are replaced. */
function merge(target: GoMap, source: GoMap, isOverwriting: boolean, context: FunctionContext): void {
  context.spend(source.size)
  for (const [key, value] of source) {
    const old = target.get(key)
    if (value === null) {
      if (isOverwriting) target.set(key, null)
      continue
    }
    if (value instanceof Map && old instanceof Map && value !== old) merge(old, value, isOverwriting, context)
    const isKept = old !== undefined && !isEmpty(old)
    if (isKept && itemsOf(value)) {
      if (isOverwriting) target.set(key, value)
      continue
    }
    if (isKept && value instanceof Map && old instanceof Map) continue
    if (isOverwriting || !isKept) target.set(key, value)
  }
}

function mergeAll(
  target: GoMap | null,
  sources: readonly (GoMap | null)[],
  isOverwriting: boolean,
  context: FunctionContext,
): GoValue {
  const result = target ?? new Map<string, GoValue>()
  for (const source of sources) if (source) merge(result, source, isOverwriting, context)
  return result
}

export function deepCopy(value: GoValue, context: FunctionContext, depth = 0): GoValue {
  context.spend(1)
  if (depth > MAX_COPY_DEPTH) throw new FunctionError('value is nested too deep')
  if (value instanceof NamedMap) {
    return new NamedMap(
      value.type,
      value.elem,
      [...value].map(([key, item]) => [key, deepCopy(item, context, depth + 1)]),
    )
  }
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, deepCopy(item, context, depth + 1)]))
  if (value instanceof GoList)
    return value.isNil
      ? value
      : new GoList(
          value.type,
          value.items.map((item) => deepCopy(item, context, depth + 1)),
        )
  const items = itemsOf(value)
  return items ? items.map((item) => deepCopy(item, context, depth + 1)) : value
}

const wrongType = (value: GoValue, wanted: string): FunctionError => {
  const type = value === null || value === undefined ? 'nil' : typeOf(value)
  return new FunctionError(`interface conversion: interface {} is ${type}, not ${wanted}`)
}

function plainMap(value: GoValue): GoMap {
  if (value instanceof Map && !(value instanceof NamedMap)) return value
  throw wrongType(value, 'map[string]interface {}')
}

function dig(values: readonly GoValue[]): GoValue {
  if (values.length < 3) throw new FunctionError('dig needs at least three arguments')
  let found: GoValue = plainMap(values.at(-1))
  const fallback = nonMissing(values.at(-2))
  const keys = values.slice(0, -2).map((key) => {
    if (typeof key !== 'string') throw wrongType(key, 'string')
    return key
  })
  for (const key of keys) {
    const map = plainMap(found)
    if (!map.has(key)) return fallback
    found = map.get(key)
  }
  return nonMissing(found)
}

const MAP = 'map[string]interface {}'

const mergeFunction = (name: string, isOverwriting: boolean): GoFunction =>
  variadic(name, [MAP], MAP, ([target], sources, context) => mergeAll(target, sources, isOverwriting, context))

export const dictFunctions: readonly GoFunction[] = [
  variadic('dict', [], 'interface {}', (_args, values) => dict(values)),
  fn('get', [MAP, 'string'], ([map, key]) => (map?.has(key) ? nonMissing(map.get(key)) : '')),
  fn('set', [MAP, 'string', 'interface {}'], ([map, key, value], context) => {
    if (!map) throw new FunctionError('assignment to entry in nil map')
    context.spend(1)
    map.set(key, nonMissing(value))
    return map
  }),
  fn('unset', [MAP, 'string'], ([map, key]) => {
    map?.delete(key)
    return map ?? new NamedMap(MAP, 'interface {}', null)
  }),
  fn('hasKey', [MAP, 'string'], ([map, key]) => map?.has(key) === true),
  variadic('pluck', ['string'], MAP, ([key], maps) =>
    maps.flatMap((map) => (map?.has(key) ? [nonMissing(map.get(key))] : [])),
  ),
  variadic('keys', [], MAP, (_args, maps) => stringList(maps.flatMap((map) => (map ? sortedKeys(map) : [])))),
  fn('values', [MAP], ([map]) => (map ? sortedKeys(map).map((key) => nonMissing(map.get(key))) : [])),
  variadic('pick', [MAP], 'string', ([map], keys) => {
    const result: GoMap = new Map()
    for (const key of keys) if (map?.has(key)) result.set(key, nonMissing(map.get(key)))
    return result
  }),
  variadic('omit', [MAP], 'string', ([map], keys) => {
    const result: GoMap = new Map(map)
    for (const key of keys) result.delete(key)
    return result
  }),
  mergeFunction('merge', false),
  mergeFunction('mustMerge', false),
  mergeFunction('mergeOverwrite', true),
  mergeFunction('mustMergeOverwrite', true),
  variadic('dig', [], 'interface {}', (_args, values) => dig(values)),
  fn('deepCopy', ['interface {}'], ([value], context) => deepCopy(value, context)),
  fn('mustDeepCopy', ['interface {}'], ([value], context) => deepCopy(value, context)),
]
