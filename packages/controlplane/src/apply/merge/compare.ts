import { isDeepEqual, isJsonObject, type JsonObject, ownValue } from '@tenure/kube/model'
import { isEmptyObject, isList } from '../../patch/json.ts'
import type { Children, FieldSet } from '../fields/fields.ts'
import { LEAF, nodeWith, SELF } from '../fields/fields.ts'
import type { ValueType } from '../fields/value-type.ts'
import { itemElements, valueTypeFor } from '../fields/value-type.ts'
import type { PathElement } from '../fields/path-element.ts'
import { fieldElement } from '../fields/path-element.ts'
import type { ListType, MapType, Structure } from '../fields/structure.ts'

export interface Comparison {
  /** Fields that were added or changed. */
  readonly written: FieldSet
  readonly removed: FieldSet
}

const NO_CHILDREN: Children = new Map()

/** No difference. */
const SAME: Comparison = { written: LEAF, removed: LEAF }

/** Collects the written and removed fields below one field. */
interface Draft {
  written: Map<PathElement, FieldSet> | undefined
  removed: Map<PathElement, FieldSet> | undefined
}

/** The difference of one field and everything below it; undefined if there is none. */
interface Change {
  readonly written: FieldSet | undefined
  readonly removed: FieldSet | undefined
}

const WRITTEN: Change = { written: LEAF, removed: undefined }
const REMOVED: Change = { written: undefined, removed: LEAF }

/** Which fields differ between two versions of an object. */
export function compare(before: unknown, after: unknown, structure: Structure): Comparison {
  const change = changeOf(before, after, structure)
  if (!change) return SAME
  return { written: change.written ?? LEAF, removed: change.removed ?? LEAF }
}

function changeOf(before: unknown, after: unknown, structure: Structure): Change | undefined {
  if (before === after) return undefined
  const [was, is] = [valueTypeFor(structure, before), valueTypeFor(structure, after)]
  if (after === undefined) return as(was, before, after, structure)
  if (before === undefined || was === is) return as(is, before, after, structure)
  // The type changed: the old value is removed and the new one is written.
  return both(as(was, before, after, structure), as(is, before, after, structure))
}

function both(a: Change | undefined, b: Change | undefined): Change | undefined {
  if (!a || !b) return a ?? b
  return { written: together(a.written, b.written), removed: together(a.removed, b.removed) }
}

const childrenOf = (node: FieldSet): Children => new Map(Object.entries(node).filter(([element]) => element !== SELF))

function together(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  return a && b ? nodeWith(childrenOf({ ...a, ...b }), true) : (a ?? b)
}

function as(kind: ValueType, before: unknown, after: unknown, structure: Structure): Change | undefined {
  if (kind === 'map' && structure.map && !structure.map.isAtomic) {
    const [was, is] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}]
    const draft = changesInMap(was, is, structure.map)
    // The emptiness of a large object takes long to find out.
    const isChanged = draft.written !== undefined || draft.removed !== undefined
    if (isChanged || !isEmptyObject(was) || !isEmptyObject(is)) return withItself(draft, before, after)
  }
  if (kind === 'list' && structure.list && !structure.list.isAtomic) {
    const [was, is] = [isList(before) ? before : [], isList(after) ? after : []]
    if (was.length > 0 || is.length > 0) return withItself(changesInList(was, is, structure.list), before, after)
  }
  if (before === undefined) return WRITTEN
  if (after === undefined) return REMOVED
  return isDeepEqual(before, after) ? undefined : WRITTEN
}

/** A container that was added or removed is itself a written or removed field. */
function withItself(draft: Draft, before: unknown, after: unknown): Change | undefined {
  const written = nodeWith(draft.written ?? NO_CHILDREN, before === undefined)
  const removed = nodeWith(draft.removed ?? NO_CHILDREN, after === undefined)
  return written || removed ? { written, removed } : undefined
}

function note(draft: Draft, element: PathElement, change: Change | undefined): void {
  if (!change) return
  if (change.written) (draft.written ??= new Map()).set(element, change.written)
  if (change.removed) (draft.removed ??= new Map()).set(element, change.removed)
}

function changesInMap(before: JsonObject, after: JsonObject, map: MapType): Draft {
  const draft: Draft = { written: undefined, removed: undefined }
  const visit = (key: string, was: unknown, is: unknown): void => {
    if (was === is) return
    const structure = map.field(key)?.structure ?? map.element()
    if (structure) note(draft, fieldElement(key), changeOf(was, is, structure))
  }
  for (const key of Object.keys(after)) visit(key, ownValue(before, key), after[key])
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) visit(key, before[key], undefined)
  return draft
}

function changesInList(before: readonly unknown[], after: readonly unknown[], list: ListType): Draft {
  const draft: Draft = { written: undefined, removed: undefined }
  const [was, is] = [byElement(before, list), byElement(after, list)]
  for (const element of new Set([...was.keys(), ...is.keys()])) {
    const [old, current] = [was.get(element) ?? [], is.get(element) ?? []]
    if (old.length > 1 && current.length > 1) {
      if (!isDeepEqual(old, current)) note(draft, element, WRITTEN)
    } else if (old.length > 1) {
      const change = current.length > 0 ? changeOf(undefined, current[0], list.element()) : undefined
      note(draft, element, { written: change?.written, removed: LEAF })
    } else if (current.length > 1) {
      const change = old.length > 0 ? changeOf(old[0], undefined, list.element()) : undefined
      note(draft, element, { written: LEAF, removed: change?.removed })
    } else {
      note(draft, element, changeOf(old[0], current[0], list.element()))
    }
  }
  return draft
}

/** Items by path element; several where keys repeat. */
function byElement(items: readonly unknown[], list: ListType): ReadonlyMap<PathElement, readonly unknown[]> {
  const known = new Map<PathElement, unknown[]>()
  const elements = itemElements(list, items)
  for (const [at, item] of items.entries()) {
    const element = elements[at]
    if (element === undefined) continue
    const same = known.get(element)
    if (same) same.push(item)
    else known.set(element, [item])
  }
  return known
}
