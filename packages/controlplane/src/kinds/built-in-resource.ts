import type { Subresource } from '../registry/types.ts'

/** A row of the generated table: a resource as kube-apiserver's discovery lists it. */
export interface BuiltInResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** The name of the schema, such as `io.k8s.api.core.v1.Pod`. */
  readonly schema: string
  /** Identifies the version that objects are stored in. Absent if none are stored. */
  readonly storageVersionHash?: string
  readonly subresources?: readonly Subresource[]
}
