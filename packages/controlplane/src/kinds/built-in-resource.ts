import type { Subresource } from '../registry/types.ts'

/** A row of the generated table: a resource as the real server's discovery names it. */
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
  /** The name of its schema: `io.k8s.api.core.v1.Pod`. */
  readonly schema: string
  readonly subresources?: readonly Subresource[]
}
