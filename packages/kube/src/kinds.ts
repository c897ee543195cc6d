/**
 * The kinds that Kubernetes itself serves: each name is a type and a `Kind` value. The types cost nothing at run time.
 * `Event` is events.k8s.io/v1; the older one of the core group is `CoreEvent`.
 */
export * from './generated/kinds.ts'
export type { Condition, KubeObject, ObjectMeta, OwnerReference } from './model/object.ts'
export type { LabelSelector, LabelSelectorRequirement } from './model/label-selector.ts'
