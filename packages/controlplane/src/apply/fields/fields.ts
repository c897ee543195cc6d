import { isJsonObject } from '@tenure/kube/model'
import type { PathElement } from './path-element.ts'
import { canonicalElement, printElement, sortedElements } from './path-element.ts'

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

const isNamed = (node: FieldSet): boolean => node[SELF] !== undefined

/** Whether the field of a node is in the set. */
export const isMember = (node: FieldSet): boolean => isNamed(node) || isEmpty(node)

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

/** The children of a node, in any order. */
export type Children = ReadonlyMap<PathElement, FieldSet>

/** A node with these children, sorted, and with its own field as a member if `self` is true; undefined if it is empty. */
export function nodeWith(children: Children, self: boolean): FieldSet | undefined {
  if (children.size === 0) return self ? LEAF : undefined
  const node: Draft = self ? { [SELF]: LEAF } : {}
  for (const element of sortedElements([...children.keys()])) node[element] = children.get(element) ?? LEAF
  return node
}

/**
 * A node with these children, sorted, and with its own field as a member if `self` is true; undefined if it is empty.
 * Makes at most one copy, because copies of large nodes take long.
 */
function nodeOf(draft: Draft, self: boolean): FieldSet | undefined {
  const keys = Object.keys(draft)
  if (keys.length === 0) return self ? LEAF : undefined
  const isSelf = draft[SELF] !== undefined
  const children = isSelf ? keys.filter((key) => key !== SELF) : keys
  const ordered = sortedElements(children)
  if (ordered === children && (keys[0] === SELF || !(self || isSelf))) return draft
  const result: Draft = {}
  if (self || isSelf) result[SELF] = LEAF
  for (const element of ordered) {
    const node = draft[element]
    if (node) result[element] = node
  }
  return result
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
  if (isNamed(b) && recursive) return undefined
  const rest = subtract(a, b, recursive)
  // Whether a large node is empty takes long to find out, and a node from which something was subtracted is not.
  const isGone = isNamed(b) || (rest === a && isEmpty(b))
  if (rest === a) {
    if (!isGone) return a
    if (recursive || isEmpty(a)) return undefined
  }
  if (!isNamed(a) || rest === undefined) return rest
  if (!hasChildren(rest)) return isGone ? undefined : LEAF
  if (!isGone) return rest
  const { [SELF]: _, ...children } = rest
  return children
}

function hasChildren(node: FieldSet): boolean {
  for (const key in node) if (key !== SELF) return true
  return false
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
    const children = intersect(mine, theirs)
    // Nodes that share children are members only if they say so.
    const isShared = children ? isNamed(mine) && isNamed(theirs) : isMember(mine) && isMember(theirs)
    if (!isShared && !children) continue
    draft[key] = isShared && children ? { [SELF]: LEAF, ...children } : (children ?? LEAF)
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
  const children = new Map<PathElement, FieldSet>()
  let self = false
  for (const key of Object.keys(sent)) {
    if (key === SELF) {
      self = true
      continue
    }
    const element = canonicalElement(key)
    if (element !== undefined) children.set(element, canonicalFields(sent[key], depth + 1))
  }
  return nodeWith(children, self) ?? LEAF
}
