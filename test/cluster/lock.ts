import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'

const RETRY_MS = 200

/**
 * Runs `work` while no other process holds the lock at `file`. Node has no flock, and an exclusively created file would
 * outlive a killed holder; SQLite uses an operating system lock, which ends with its process.
 */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true })
  const database = new DatabaseSync(file)
  try {
    for (let waited = false; !tryLock(database); waited = true) {
      if (!waited) onWait()
      await delay(RETRY_MS)
    }
    return await work()
  } finally {
    database.close()
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked|SQLITE_BUSY/.test(error.message)
}
