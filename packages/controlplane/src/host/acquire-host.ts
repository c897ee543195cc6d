import { HostLock } from './host-lock.ts'
import { readNote, writeNote, type HostNote, type HostRecord } from './host-record.ts'

/** A data directory, held. */
export interface HeldHost {
  /** What the host before left, if there was one. */
  readonly former: HostRecord | undefined
  /** Tells others. */
  announce(note: HostNote): void
  /** Lets go; also happens when the process ends, however it ends. */
  release(): void
}

/** Takes `directory` for this process; undefined if another has it. */
export function acquireHost(directory: string): HeldHost | undefined {
  const lock = new HostLock(directory)
  if (lock.tryTake()) {
    return {
      former: readNote(directory),
      announce: (note) => writeNote(directory, note),
      release: () => lock.close(),
    }
  }
  lock.close()
  return undefined
}
