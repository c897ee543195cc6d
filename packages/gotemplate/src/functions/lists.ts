/** sprig's functions on lists. */
import { compareBytes } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { kindOf } from '../values/types.ts'
import { GoList, itemsOf, NIL_LIST, stringList } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { isDeepEqual, isEmpty, stringsOf, stringValue, toInt64 } from './conversions.ts'
import { alias, fn, variadic } from './define.ts'

export const NIL_DEREFERENCE = 'runtime error: invalid memory address or nil pointer dereference'

/** The items of a list; throws Go's error for other values. */
function listItems(value: GoValue, problem: (kind: string) => string, context: FunctionContext): readonly GoValue[] {
  if (value === null || value === undefined) throw new FunctionError(NIL_DEREFERENCE)
  const items = itemsOf(value)
  if (!items) throw new FunctionError(problem(kindOf(value)))
  context.spend(items.length >>> 4)
  return items
}

type ListCall = (items: readonly GoValue[], context: FunctionContext) => GoValue

/** A function of one list, and its `must` variant. */
function ofList(name: string, problem: string, call: ListCall): readonly GoFunction[] {
  const base = fn(name, ['interface {}'], ([list], context) =>
    call(
      listItems(list, (kind) => `${problem} type ${kind}`, context),
      context,
    ),
  )
  return [base, alias(mustName(name), base)]
}

const mustName = (name: string): string => `must${name.charAt(0).toUpperCase()}${name.slice(1)}`

const withMust = (base: GoFunction): readonly GoFunction[] => [base, alias(mustName(base.name), base)]

function isIn(items: readonly GoValue[], value: GoValue, context: FunctionContext): boolean {
  context.spend(items.length)
  return items.some((item) => isDeepEqual(item, value))
}

function unique(items: readonly GoValue[], context: FunctionContext): GoValue {
  const kept: GoValue[] = []
  for (const item of items) if (!isIn(kept, item, context)) kept.push(item)
  return kept
}

function slice(list: GoValue, indices: readonly GoValue[], context: FunctionContext): GoValue {
  const items = listItems(list, (kind) => `list should be type of slice or array but ${kind}`, context)
  if (items.length === 0) return null
  const [from, to] = indices
  const start = indices.length > 0 ? Number(toInt64(from)) : 0
  const end = indices.length > 1 ? Number(toInt64(to)) : items.length
  if (start < 0 || end < start || end > items.length) {
    throw new FunctionError('reflect.Value.Slice: slice index out of bounds')
  }
  const part = items.slice(start, end)
  return list instanceof GoList ? new GoList(list.type, part) : part
}

function chunk(size: number, items: readonly GoValue[]): GoValue {
  const count = Math.floor((items.length - 1) / size) + 1
  if (!Number.isFinite(count) || count < 0) throw new FunctionError('runtime error: makeslice: len out of range')
  const chunks = Array.from({ length: count }, (_unused, index) => items.slice(index * size, (index + 1) * size))
  return new GoList('[][]interface {}', chunks)
}

function concat(lists: readonly GoValue[], context: FunctionContext): GoValue {
  const all = lists.flatMap((list) => listItems(list, (kind) => `Cannot concat type ${kind} as list`, context))
  context.spend(all.length)
  return all.length === 0 ? NIL_LIST : all
}

const push = fn('push', ['interface {}', 'interface {}'], ([list, value], context) => [
  ...listItems(list, (kind) => `Cannot push on type ${kind}`, context),
  value,
])

export const listFunctions: readonly GoFunction[] = [
  variadic('list', [], 'interface {}', (_args, values) => values),
  variadic('tuple', [], 'interface {}', (_args, values) => values),
  push,
  alias('append', push),
  alias('mustPush', push),
  alias('mustAppend', push),
  ...withMust(
    fn('prepend', ['interface {}', 'interface {}'], ([list, value], context) => [
      value,
      ...listItems(list, (kind) => `Cannot prepend on type ${kind}`, context),
    ]),
  ),
  ...withMust(
    fn('chunk', ['int', 'interface {}'], ([size, list], context) =>
      chunk(
        size,
        listItems(list, (kind) => `Cannot chunk type ${kind}`, context),
      ),
    ),
  ),
  ...ofList('first', 'Cannot find first on', (items) => items[0] ?? null),
  ...ofList('last', 'Cannot find last on', (items) => items.at(-1) ?? null),
  ...ofList('rest', 'Cannot find rest on', (items) => (items.length === 0 ? NIL_LIST : items.slice(1))),
  ...ofList('initial', 'Cannot find initial on', (items) => (items.length === 0 ? NIL_LIST : items.slice(0, -1))),
  ...ofList('reverse', 'Cannot find reverse on', (items) => items.toReversed()),
  ...ofList('compact', 'Cannot compact on', (items) => items.filter((item) => !isEmpty(item))),
  ...ofList('uniq', 'Cannot find uniq on', unique),
  ...withMust(
    variadic('without', ['interface {}'], 'interface {}', ([list], omitted, context) =>
      listItems(list, (kind) => `Cannot find without on type ${kind}`, context).filter(
        (item) => !isIn(omitted, item, context),
      ),
    ),
  ),
  ...withMust(
    fn('has', ['interface {}', 'interface {}'], ([needle, list], context) =>
      list === null
        ? false
        : isIn(
            listItems(list, (kind) => `Cannot find has on type ${kind}`, context),
            needle,
            context,
          ),
    ),
  ),
  ...withMust(
    variadic('slice', ['interface {}'], 'interface {}', ([list], indices, context) => slice(list, indices, context)),
  ),
  variadic('concat', [], 'interface {}', (_args, lists, context) => concat(lists, context)),
  fn('sortAlpha', ['interface {}'], ([list], context) => {
    if (!itemsOf(list)) return stringList([stringValue(list)])
    const strings = stringsOf(list)
    context.spend(strings.length)
    return stringList(strings.toSorted(compareBytes))
  }),
]
