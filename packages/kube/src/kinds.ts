/**
 * The built-in kinds of Kubernetes. Each name is a type and a `Kind` value. `Event` is events.k8s.io/v1, `CoreEvent` the
 * older kind of the core group.
 */
export * from './generated/kinds.ts'
export type { Condition, KubeObject, ObjectMeta, OwnerReference } from './model/object.ts'
export type { LabelSelector, LabelSelectorRequirement } from './model/label-selector.ts'
