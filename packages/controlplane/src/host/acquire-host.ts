import { HostLock } from './host-lock.ts'
import { readNote, writeNote, type HostNote, type HostRecord } from './host-record.ts'

/** A data directory that this process holds. */
export interface HeldHost {
  /** The record of the previous host, if there was one. */
  readonly former: HostRecord | undefined
  /** Publishes the note for other processes. */
  announce(note: HostNote): void
  /** Releases the directory. The end of the process releases it as well. */
  release(): void
}

/** Locks `directory` for this process; undefined if another process holds it. */
export function acquireHost(directory: string): HeldHost | undefined {
  const lock = new HostLock(directory)
  if (lock.tryAcquire()) {
    return {
      former: readNote(directory),
      announce: (note) => writeNote(directory, note),
      release: () => lock.close(),
    }
  }
  lock.close()
  return undefined
}
