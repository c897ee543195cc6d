import { isJsonObject } from '@tenure/kube/model'
import type { PathElement } from './path-element.ts'
import { canonicalElement, compareElements, parsedElement, printElement } from './path-element.ts'

/**
 * A set of fields in the form of fieldsV1: a tree of path elements in which `{}` is a member, `'.'` makes a node with
 * children a member, and a node without either is not a member itself. Trees are immutable and sorted and share equal
 * parts, so fieldsV1 from storage is used directly.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet
}

type Draft = Record<PathElement, FieldSet>

/** A member without children; as a root, the empty set. */
export const LEAF: FieldSet = Object.freeze({})
export const SELF = '.'
const MAX_FIELD_DEPTH = 1_000

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false
  return true
}

/** Whether the field of a node is in the set. */
export const isMember = (node: FieldSet): boolean => node[SELF] !== undefined || isEmpty(node)

/** The node with its own field as a member. */
export function withSelf(node: FieldSet | undefined): FieldSet {
  if (node === undefined || isMember(node)) return node ?? LEAF
  return { [SELF]: LEAF, ...node }
}

export function fieldsEqual(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  let size = 0
  for (const key in a) {
    const other = b[key]
    const mine = a[key]
    if (other === undefined || mine === undefined || !fieldsEqual(mine, other)) return false
    size++
  }
  for (const _ in b) size--
  return size === 0
}

/**
 * A node with these children, sorted, and with its own field as a member if `self` is true; undefined if it is empty.
 * Makes at most one copy, because copies of large nodes take long.
 */
export function nodeOf(draft: Draft, self: boolean): FieldSet | undefined {
  const keys = Object.keys(draft)
  if (keys.length === 0) return self ? LEAF : undefined
  const isSelf = draft[SELF] !== undefined
  const children = isSelf ? keys.filter((key) => key !== SELF) : keys
  const ordered = inOrder(children)
  if (ordered === children && (keys[0] === SELF || !(self || isSelf))) return draft
  const result: Draft = {}
  if (self || isSelf) result[SELF] = LEAF
  for (const element of ordered) {
    const node = draft[element]
    if (node) result[element] = node
  }
  return result
}

/** Sorts only if needed. */
function inOrder(elements: readonly PathElement[]): readonly PathElement[] {
  if (elements.length < 2) return elements
  const parsed = elements.map(parsedElement)
  let before = parsed[0]
  for (const element of parsed) {
    if (before && compareElements(before, element) > 0) {
      return parsed.toSorted(compareElements).map((each) => each.element)
    }
    before = element
  }
  return elements
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  return a === b || isEmpty(b) ? a : isEmpty(a) ? b : unite(a, b, false)
}

function unite(a: FieldSet, b: FieldSet, self: boolean): FieldSet {
  let draft: Draft | undefined
  for (const key in b) {
    const theirs = b[key]
    if (key === SELF || theirs === undefined) continue
    const mine = a[key]
    const both = mine === undefined ? theirs : uniteNodes(mine, theirs)
    if (both !== mine) {
      draft ??= { ...a }
      draft[key] = both
    }
  }
  const addsSelf = self && a[SELF] === undefined
  return draft || addsSelf ? (nodeOf(draft ?? a, addsSelf) ?? LEAF) : a
}

function uniteNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  if (isEmpty(a)) return withSelf(b)
  if (isEmpty(b)) return withSelf(a)
  return unite(a, b, b[SELF] !== undefined)
}

/** The members of `a` that are not in `b`. A parent in `b` does not remove its children. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false) ?? LEAF
}

/** The members of `a` that are neither in `b` nor below a member of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true) ?? LEAF
}

function subtract(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet | undefined {
  const draft: Draft = {}
  let isChanged = false
  let isLeft = false
  for (const key in a) {
    const mine = a[key]
    const theirs = key === SELF ? undefined : b[key]
    const rest = mine === undefined || theirs === undefined ? mine : subtractNodes(mine, theirs, recursive)
    if (rest !== mine) isChanged = true
    if (rest === undefined) continue
    draft[key] = rest
    isLeft = true
  }
  if (!isChanged) return a
  return isLeft ? draft : undefined
}

function subtractNodes(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet | undefined {
  const isGone = isMember(b)
  if (isGone && (recursive || isEmpty(a))) return undefined
  if (isEmpty(a)) return a
  const rest = subtract(a, b, recursive)
  const wasMember = a[SELF] !== undefined
  if (rest === a && !(wasMember && isGone)) return a
  if (!wasMember) return rest
  const { [SELF]: _, ...children } = rest ?? LEAF
  if (isEmpty(children)) return isGone ? undefined : LEAF
  return isGone ? children : { [SELF]: LEAF, ...children }
}

/** The members of both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return intersect(a, b) ?? LEAF
}

function intersect(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const draft: Draft = {}
  let kept = false
  for (const key in a) {
    const [mine, theirs] = [a[key], b[key]]
    if (mine === undefined || theirs === undefined || key === SELF) continue
    const isShared = isMember(mine) && isMember(theirs)
    const children = intersect(mine, theirs)
    if (!isShared && !children) continue
    draft[key] = isShared ? withSelf(children) : (children ?? LEAF)
    kept = true
  }
  return kept ? draft : undefined
}

export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set
  for (const element of path) {
    node = node[element]
    if (node === undefined) return false
  }
  return path.length > 0 && isMember(node)
}

export function fieldsAt(...paths: readonly (readonly PathElement[])[]): FieldSet {
  let set = LEAF
  for (const path of paths) {
    let node: FieldSet = LEAF
    for (const element of path.toReversed()) node = { [element]: node }
    set = union(set, node)
  }
  return set
}

/** Every member as a printed path: the members of a level first, then the levels below. */
export function* printedPaths(set: FieldSet, prefix = ''): Generator<string> {
  const keys = Object.keys(set).filter((key) => key !== SELF)
  for (const key of keys) if (isMember(set[key] ?? LEAF)) yield prefix + printElement(key)
  for (const key of keys) yield* printedPaths(set[key] ?? LEAF, prefix + printElement(key))
}

/** A set from a request, sorted and written as the server writes it. Throws if it is malformed. */
export function canonicalFields(sent: unknown, depth = 0): FieldSet {
  if (!isJsonObject(sent)) throw new SyntaxError('fields must be an object')
  if (depth > MAX_FIELD_DEPTH) throw new SyntaxError('fields are nested too deeply')
  const draft: Draft = {}
  let self = false
  for (const key of Object.keys(sent)) {
    if (key === SELF) {
      self = true
      continue
    }
    const element = canonicalElement(key)
    if (element !== undefined) draft[element] = canonicalFields(sent[key], depth + 1)
  }
  return nodeOf(draft, self) ?? LEAF
}
