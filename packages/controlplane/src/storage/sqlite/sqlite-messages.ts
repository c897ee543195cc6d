/** Messages between the main thread and the worker thread that owns the file. Flat arrays are cheapest to copy. */

/** Revision, resource, key and JSON (null for a deletion) of each row in turn. */
export type FlatRows = (number | string | null)[]

export interface WorkerOptions {
  readonly file: string
  readonly maxBytes: number | undefined
}

export type ToWorker =
  | {
      readonly type: 'append'
      /** Counts failures. Messages sent before the main thread learned of a failure are based on lost changes. */
      readonly epoch: number
      /** May be empty. */
      readonly rows: FlatRows
      /** States before this revision are no longer needed. Undefined: unchanged. */
      readonly oldest: number | undefined
      /** Revisions that hold nothing any more. */
      readonly superseded: readonly number[]
    }
  | { readonly type: 'close' }

export type OpenErrorCode =
  | 'TENURE_STORAGE_DAMAGED'
  | 'TENURE_STORAGE_BEHIND'
  | 'TENURE_STORAGE_IN_USE'
  | 'TENURE_STORAGE_NEWER'
  | 'TENURE_STORAGE_UNUSABLE'

export type FromWorker =
  | { readonly type: 'opened'; readonly oldest: number }
  | { readonly type: 'rows'; readonly rows: FlatRows }
  | { readonly type: 'loaded' }
  | { readonly type: 'refused'; readonly code: OpenErrorCode; readonly message: string }
  | { readonly type: 'durable'; readonly revision: number }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'closed' }
