/** What the main thread and the thread that owns the file say to each other. Flat arrays: they are cheapest to copy. */

/** Revision, resource, key, JSON or null for a deletion; and again for the next row. */
export type FlatRows = (number | string | null)[]

export interface WorkerOptions {
  readonly file: string
  readonly maxBytes: number | undefined
}

export type ToWorker =
  | {
      readonly type: 'append'
      /** Counts failures. What was sent before the main thread heard of a failure is built on lost changes. */
      readonly epoch: number
      /** Perhaps none. */
      readonly rows: FlatRows
      /** States before it are no longer asked for. Undefined: as before. */
      readonly oldest: number | undefined
      /** Revisions that hold nothing any more. */
      readonly superseded: readonly number[]
    }
  | { readonly type: 'close' }

export type RefusalCode =
  | 'TENURE_STORAGE_DAMAGED'
  | 'TENURE_STORAGE_IN_USE'
  | 'TENURE_STORAGE_NEWER'
  | 'TENURE_STORAGE_UNUSABLE'

export type FromWorker =
  | { readonly type: 'opened'; readonly oldest: number }
  | { readonly type: 'rows'; readonly rows: FlatRows }
  | { readonly type: 'loaded' }
  | { readonly type: 'refused'; readonly code: RefusalCode; readonly message: string }
  | { readonly type: 'durable'; readonly revision: number }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'closed' }
