import type { JsonObject } from '@tenure/kube/model'

export const ROW_STATUSES = ['pending', 'provisioning', 'active', 'updating', 'paused', 'error', 'deleted'] as const
export type RowStatus = (typeof ROW_STATUSES)[number]

export type JobType = 'create' | 'update' | 'scale' | 'delete'
export type JobStatus = 'pending' | 'running' | 'completed' | 'failed' | 'rolled_back'
export type AuditAction =
  | 'resource.created'
  | 'resource.updated'
  | 'resource.scaled'
  | 'resource.deleted'
  | 'resource.failed'

/** A change of desired state, from one value to another; undefined: the field was not set. */
export interface FieldChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

/** The one job of a resource that is pending or running. */
export interface LiveJob {
  readonly id: string
  readonly type: JobType
  readonly status: 'pending' | 'running'
  /** The generation of the row that the job works on. */
  readonly generation: string
  /** Failed tries so far. */
  readonly attempts: number
  readonly changes: readonly FieldChange[]
  readonly logs: string
}

/** One row of `resources`, joined with its type, its team and its live job. Ids are decimal text: they may be bigints. */
export interface ResourceRow {
  readonly id: string
  readonly name: string
  /** Name of the resource type; empty if the type does not exist. */
  readonly type: string
  readonly teamId: string | undefined
  readonly teamName: string | undefined
  /** The status as the platform or this operator wrote it last. */
  readonly status: string
  readonly lifecycleMode: string
  /** Undefined: NULL, empty, or the column does not exist. */
  readonly namespace: string | undefined
  readonly resourceName: string | undefined
  readonly config: JsonObject
  readonly connectionInfo: JsonObject
  readonly credentials: JsonObject
  /** RFC 3339; undefined: the row is not deleted. */
  readonly deletedAt: string | undefined
  readonly createdBy: string | undefined
  /** Grows with every change of desired state. Decimal text. */
  readonly generation: string
  /** The generation that the last finished job reached. */
  readonly observedGeneration: string | undefined
  readonly job: LiveJob | undefined
  /** Status of the newest finished job and its message, to tell a failure that was already reported. */
  readonly lastJob:
    | { readonly status: JobStatus; readonly generation: string; readonly error: string | undefined }
    | undefined
  /** Why the row cannot be acted on although it could be read: its config is not an object, or too large. */
  readonly problem?: string
}

/** Columns of `resources` that the operator owns; an undefined one is not written. */
export interface ResourceReport {
  readonly status?: RowStatus
  /** Merged into the column; keys that others wrote stay. */
  readonly connectionInfo?: JsonObject
  /** Merged into the column; never a password. */
  readonly credentials?: JsonObject
  readonly namespace?: string
  readonly resourceName?: string
  readonly resourceType?: string
  readonly observedGeneration?: string
}

/** A change of a resource's job, in the same transaction as its report. */
export type JobChange =
  | {
      readonly type: 'begin'
      readonly jobType: JobType
      readonly changes: readonly FieldChange[]
      readonly log: readonly string[]
    }
  /** Adds log lines, and counts a failed try if `attempts` is given. */
  | { readonly type: 'progress'; readonly job: LiveJob; readonly log: readonly string[]; readonly attempts?: number }
  /** A later change of desired state becomes part of the running job, whose tries are counted from the start. */
  | {
      readonly type: 'extend'
      readonly job: LiveJob
      readonly jobType: JobType
      readonly changes: readonly FieldChange[]
      readonly log: readonly string[]
    }
  | { readonly type: 'complete'; readonly job: LiveJob; readonly log: readonly string[]; readonly audit: AuditAction }
  | { readonly type: 'fail'; readonly job: LiveJob; readonly log: readonly string[]; readonly error: string }
  /** A failure that is found before any work began: one failed job, at once. */
  | { readonly type: 'reject'; readonly jobType: JobType; readonly error: string }
