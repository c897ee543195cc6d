import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TenureError } from '@tenure/kube'
import { makeDirectory } from '../durable-files.ts'

const FILE = 'host.lock'
const BUSY = 5

/**
 * The right to host a data directory, which one process has at a time.
 *
 * Node has no flock. A file made exclusively would outlive a killed holder, and clearing it away races with the next;
 * SQLite takes the operating system's own lock, which ends with its process whatever ends it.
 */
export class HostLock {
  readonly #database: DatabaseSync
  #isHeld = false

  /** Makes the directory if it is not there. */
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

  /** Takes it if nobody has it. */
  tryTake(): boolean {
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

  /** Lets others have it. */
  giveBack(): void {
    if (this.#isHeld) this.#database.exec('ROLLBACK')
    this.#isHeld = false
  }

  close(): void {
    this.giveBack()
    this.#database.close()
  }
}

function unusable(place: string, cause: unknown): TenureError {
  return new TenureError(
    'TENURE_HOST_UNUSABLE',
    `the data directory can not be locked at ${place}: ${(cause as Error).message}; check that it is writable, or choose another`,
    { cause },
  )
}
