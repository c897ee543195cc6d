import type { Change } from './types.ts'

/** Makes changes durable, in order. */
export interface ChangeLog {
  /** Accepts a change. Throws if it cannot be serialized; then it has no effect. */
  append(change: Change): void
  /** States before `oldest` are no longer needed; the changes with the revisions `superseded` can be dropped. */
  forget(oldest: number, superseded: readonly number[]): void
  /** Makes all appended changes durable and closes the file. */
  close(): Promise<void>
}

/** Receives the outcome of changes, never from within `append`. */
export interface ChangeLogListener {
  /** All changes up to `revision` are durable. */
  durable(revision: number): void
  /** All changes that are not durable are lost; the next change follows the last durable one. */
  failed(error: Error): void
}

/** Writes nothing to disk: a change counts as durable in the next microtask. */
export function memoryLog(listener: ChangeLogListener): ChangeLog {
  let newest = 0
  let isScheduled = false
  const acknowledge = (): void => {
    isScheduled = false
    listener.durable(newest)
  }
  return {
    append({ revision }) {
      newest = revision
      if (isScheduled) return
      isScheduled = true
      queueMicrotask(acknowledge)
    },
    forget: () => undefined,
    close: () => Promise.resolve(),
  }
}
