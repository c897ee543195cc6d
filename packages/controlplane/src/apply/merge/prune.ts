import type { KnownFields } from '../fields/field-set.ts'
import { fieldSetOf } from '../fields/field-set.ts'
import type { FieldSet } from '../fields/fields.ts'
import { difference, intersection, isEmpty, union } from '../fields/fields.ts'
import { removeFields, withNamedFields } from './remove-fields.ts'
import type { Structure } from '../fields/structure.ts'

/**
 * The merged object without the fields that its applier set before, does not set now, and no other manager owns.
 * `last` are the fields it owned before, `current` those it owns now, `owned` those that any manager owns, `current` included.
 */
export function pruneDropped(
  merged: unknown,
  sets: { readonly last: FieldSet; readonly current: FieldSet; readonly owned: FieldSet },
  structure: Structure,
): unknown {
  const { last, current, owned } = sets
  // The applier still sets everything it owned, which is the usual case.
  if (isEmpty(difference(last, current))) return merged
  const lastNamed = withNamedFields(last, structure)
  const known: KnownFields = new Map()
  const without = (value: unknown, set: FieldSet): unknown => removeFields(value, set, structure) ?? {}
  const setOf = (value: unknown): FieldSet => withNamedFields(fieldSetOf(value, structure, known), structure)

  const mergedSet = setOf(merged)
  const bare = without(merged, lastNamed)
  const kept = union(setOf(bare), withNamedFields(owned, structure))
  const withOwned = without(merged, difference(mergedSet, kept))
  return without(merged, intersection(difference(mergedSet, setOf(withOwned)), lastNamed))
}
