import type { Selection } from '../client/api.ts'
import { FieldMatcher } from './field-selector.ts'
import { LabelMatcher } from './label-selector.ts'
import type { KubeObject } from './object.ts'

export { FieldMatcher } from './field-selector.ts'
export { LabelMatcher } from './label-selector.ts'
export type { LabelSelector, LabelSelectorRequirement } from './label-selector.ts'

/** A function that tells whether a list or watch with this selection includes an object. */
export function selectionMatcher(selection: Selection): (object: KubeObject) => boolean {
  const { namespace } = selection
  const labels = LabelMatcher.parse(selection.labelSelector ?? '')
  const fields = FieldMatcher.parse(selection.fieldSelector ?? '')
  return (object) => {
    const metadata = object.metadata
    // An object without a namespace is cluster-scoped, and the namespace of the selection does not apply.
    if (namespace !== undefined && metadata?.namespace !== undefined && metadata.namespace !== namespace) return false
    return labels.matches(metadata?.labels) && fields.matches(object)
  }
}
