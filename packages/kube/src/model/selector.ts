import type { Selection } from '../client/api.ts'
import { FieldMatcher } from './field-selector.ts'
import { LabelMatcher } from './label-selector.ts'
import type { KubeObject } from './object.ts'

export { FieldMatcher } from './field-selector.ts'
export { LabelMatcher } from './label-selector.ts'
export type { LabelSelector, LabelSelectorRequirement } from './label-selector.ts'

/** Judges whether an object is among those that a list or watch with this selection brings. */
export function selectionMatcher(selection: Selection): (object: KubeObject) => boolean {
  const { namespace } = selection
  const labels = LabelMatcher.parse(selection.labelSelector ?? '')
  const fields = FieldMatcher.parse(selection.fieldSelector ?? '')
  return (object) => {
    const metadata = object.metadata
    // An object without a namespace is of a cluster-scoped kind, where the selection's is ignored.
    if (namespace !== undefined && metadata?.namespace !== undefined && metadata.namespace !== namespace) return false
    return labels.matches(metadata?.labels) && fields.matches(object)
  }
}
