import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TenureError } from '@tenure/kube'
import { makeDirectory } from '../durable-files.ts'

const FILE = 'host.lock'
const BUSY = 5

/**
 * The exclusive right of one process to host a data directory.
 *
 * Node has no flock. An exclusively created file would outlive a killed holder, and removing it races with the next
 * process. SQLite takes the lock of the operating system, which ends with the process.
 */
export class HostLock {
  readonly #database: DatabaseSync
  #isHeld = false

  /** Makes the directory if it is missing. */
  constructor(directory: string) {
    try {
      makeDirectory(directory)
      this.#database = new DatabaseSync(path.join(directory, FILE), { timeout: 0 })
    } catch (cause) {
      throw unusable(directory, cause)
    }
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Takes the lock if it is free. */
  tryAcquire(): boolean {
    if (this.#isHeld) return true
    try {
      this.#database.exec('BEGIN EXCLUSIVE')
      this.#isHeld = true
    } catch (error) {
      if (((error as { readonly errcode?: number }).errcode ?? 0) % 256 !== BUSY) {
        throw unusable(this.#database.location() ?? FILE, error)
      }
    }
    return this.#isHeld
  }

  /** Releases the lock. */
  release(): void {
    if (this.#isHeld) this.#database.exec('ROLLBACK')
    this.#isHeld = false
  }

  close(): void {
    this.release()
    this.#database.close()
  }
}

function unusable(place: string, cause: unknown): TenureError {
  return new TenureError(
    'TENURE_HOST_UNUSABLE',
    `The data directory cannot be locked at ${place}: ${(cause as Error).message}. Check that it is writable, or choose another.`,
    { cause },
  )
}
