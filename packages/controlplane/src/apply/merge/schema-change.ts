import type { FieldSet } from '../fields/fields.ts'
import { isEmpty, isMember, LEAF, SELF } from '../fields/fields.ts'
import type { Structure } from '../fields/structure.ts'

const reconciled = new WeakMap<FieldSet, { readonly structure: Structure; readonly fields: FieldSet }>()

/** Adapts a set to the current schema: an owner of parts of a value that is atomic now owns the whole value. */
export function underSchema(fields: FieldSet, structure: Structure): FieldSet {
  const known = reconciled.get(fields)
  if (known?.structure === structure) return known.fields
  const result = walk(fields, structure)
  reconciled.set(fields, { structure, fields: result })
  return result
}

function walk(set: FieldSet, structure: Structure): FieldSet {
  const { map, list } = structure
  // Only declared types are searched; undeclared ones have no known structure.
  if (map ? map.isDeduced : !list) return set
  let draft: Record<string, FieldSet> | undefined
  for (const key in set) {
    const node = set[key]
    if (key === SELF || node === undefined || isEmpty(node)) continue
    const below = map ? fieldBelow(map, key) : list?.element()
    if (!below) continue
    const next = isAtomic(below) && !isLeaf(node) ? LEAF : walk(node, below)
    if (next !== node) {
      draft ??= { ...set }
      draft[key] = next
    }
  }
  return draft ?? set
}

function fieldBelow(map: NonNullable<Structure['map']>, key: string): Structure | undefined {
  if (!key.startsWith('f:')) return undefined
  return map.field(key.slice(2))?.structure ?? map.element()
}

const isLeaf = (node: FieldSet): boolean => isMember(node) && isEmpty(node)

function isAtomic({ map, list, scalar }: Structure): boolean {
  if (map) return map.isAtomic && !map.isDeduced
  return !scalar && list?.isAtomic === true
}
