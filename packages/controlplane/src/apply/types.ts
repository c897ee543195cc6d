import type { KubeObject } from '@tenure/kube'
import type { Schema } from '../schema/types.ts'

export interface ManagedContext {
  /** Name of the field manager. */
  readonly manager: string
  /** `apps/v1`: the version of the request. */
  readonly apiVersion: string
  readonly subresource: string
  readonly schema: Schema | undefined
  readonly resolve: (ref: string) => Schema
  /** RFC 3339, for the entry's `time`. */
  readonly now: string
  /**
   * Paths of field names that this write may send but never changes, so that the manager does not own them; see
   * `defaultResetFields`. Default: for a built-in kind those of kube-apiserver's strategy; for a custom kind with a
   * status, the status, or metadata and spec for the status subresource.
   */
  readonly resetFields?: readonly (readonly string[])[]
  /** Entries of versions for which this returns false are dropped. Default: all versions are served. */
  readonly isServed?: (apiVersion: string) => boolean
}

export interface ApplyRequest extends ManagedContext {
  /** The stored object with managedFields; undefined creates. */
  readonly live: KubeObject | undefined
  /** The applied configuration. */
  readonly applied: KubeObject
  readonly force: boolean
  /** Called with the fields that the manager will own, before the work of merging; it may throw. */
  readonly onFields?: (fields: Readonly<Record<string, unknown>>) => void
}

export interface UpdateRequest extends ManagedContext {
  readonly live: KubeObject | undefined
  /** The object to store, before managedFields. If it has managedFields, the writer asks to change them (an empty list clears). */
  readonly next: KubeObject
}

/**
 * Field ownership as structured-merge-diff defines it. `apply` merges and throws a 409 StatusError with one cause per
 * conflict (`FieldManagerConflict`, `conflict with "x" using apps/v1`); `update` moves the changed fields to the writer.
 * An apply that changes nothing returns `live` itself, so that nothing is written.
 */
export interface FieldManagement {
  apply(request: ApplyRequest): KubeObject
  update(request: UpdateRequest): KubeObject
}
