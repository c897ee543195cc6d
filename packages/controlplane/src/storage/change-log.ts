import type { Change } from './types.ts'

/** Where changes are made durable, in order. */
export interface ChangeLog {
  /** Takes a change. Throws if it can not be written down; then nothing has happened. */
  append(change: Change): void
  /** States before `oldest` are no longer asked for; the changes of these revisions hold nothing that is. */
  forget(oldest: number, superseded: readonly number[]): void
  /** Makes durable what was appended, and lets go of the disk. */
  close(): Promise<void>
}

/** Told what became of changes. Never from within `append`. */
export interface ChangeLogListener {
  /** All changes up to `revision` are durable. */
  durable(revision: number): void
  /** All changes that are not durable yet are lost: the next one follows the last durable one. */
  failed(error: Error): void
}

/** Keeps nothing: a change is as durable as it gets once the caller's own work is done. */
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
