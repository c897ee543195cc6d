import type { KubeObject } from '@tenure/kube'
import type { Schema } from '../schema/types.ts'

export interface ManagedContext {
  /** Who writes. */
  readonly manager: string
  /** `apps/v1`: of the request. */
  readonly apiVersion: string
  readonly subresource: string
  readonly schema: Schema | undefined
  readonly resolve: (ref: string) => Schema
  /** RFC 3339, for the entry's `time`. */
  readonly now: string
  /**
   * Paths of field names that this write may send but never changes, so that nobody comes to own them by it; see
   * `defaultResetFields`. Default: as the real server's strategy for a built-in kind; for a custom one status, or
   * metadata and spec for the status subresource, if its schema has a status.
   */
  readonly resetFields?: readonly (readonly string[])[]
  /** Entries of other versions are forgotten if this says no. Default: all are served. */
  readonly isServed?: (apiVersion: string) => boolean
}

export interface ApplyRequest extends ManagedContext {
  /** What is stored, with managedFields; undefined creates. */
  readonly live: KubeObject | undefined
  /** What was sent. */
  readonly applied: KubeObject
  readonly force: boolean
}

export interface UpdateRequest extends ManagedContext {
  readonly live: KubeObject | undefined
  /** What is to be stored, before managedFields. Its own managedFields, if sent, count as a request to change them (an empty list clears). */
  readonly next: KubeObject
}

/**
 * Who owns which field, as structured-merge-diff keeps it. `apply` merges and throws a 409 StatusError with one cause
 * per conflict (`FieldManagerConflict`, `conflict with "x" using apps/v1`); `update` books the changed fields to the writer.
 * An apply that changes nothing returns `live` itself, so that nothing is written.
 */
export interface FieldManagement {
  apply(request: ApplyRequest): KubeObject
  update(request: UpdateRequest): KubeObject
}
