import type { Fields } from '../fields/fields.ts'
import { isEmpty, isMember, LEAF, SELF } from '../fields/fields.ts'
import type { Structure } from '../fields/structure.ts'

const reconciled = new WeakMap<Fields, { readonly structure: Structure; readonly fields: Fields }>()

/** Adapts a set to the current schema: an owner of parts of a value that is atomic now owns the whole value. */
export function underSchema(fields: Fields, structure: Structure): Fields {
  const known = reconciled.get(fields)
  if (known?.structure === structure) return known.fields
  const result = walk(fields, structure)
  reconciled.set(fields, { structure, fields: result })
  return result
}

function walk(set: Fields, structure: Structure): Fields {
  const { map, list } = structure
  // Only declared types are searched; undeclared ones have no known structure.
  if (map ? map.isDeduced : !list) return set
  let draft: Record<string, Fields> | undefined
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

const isLeaf = (node: Fields): boolean => isMember(node) && isEmpty(node)

function isAtomic({ map, list, scalar }: Structure): boolean {
  if (map) return map.isAtomic && !map.isDeduced
  return !scalar && list?.isAtomic === true
}
