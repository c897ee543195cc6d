import path from 'node:path'
import { TenureError, type Clock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { makeDirectory } from '../durable-files.ts'
import type { HistoryLimits } from './memory/history-window.ts'
import { memoryLog } from './change-log.ts'
import { LoggedStorage } from './logged-storage.ts'
import { MemoryView } from './memory/memory-view.ts'
import type { Change, Storage } from './types.ts'

const FILE = 'state.db'

export interface OpenStorageOptions {
  /** Directory of the state; made if it is missing. Default: in memory only, lost with the process. */
  readonly directory?: string | undefined
  /** Measures the age of history. */
  readonly clock: Clock
  readonly log: Logger
  /** How much history is kept for watches that resume and lists that continue. Default 10,000 changes, 10 minutes, 128 MB. */
  readonly history?: HistoryLimits
  /** Refuses writes once the file has this many bytes. Default: limited by the disk. */
  readonly maxBytes?: number
}

/**
 * Opens the state in a directory, or an empty one in memory. A damaged file is refused with `TENURE_STORAGE_DAMAGED`,
 * never repaired or replaced; a file that another process uses, with `TENURE_STORAGE_IN_USE`.
 */
export async function openStorage({
  directory,
  clock,
  log,
  history = {},
  maxBytes,
}: OpenStorageOptions): Promise<Storage> {
  const onListenerError = (error: unknown, { resource, key, revision }: Change): void =>
    log.error('watch listener failed', { error, resource, key, revision })
  if (directory === undefined) {
    return new LoggedStorage({ view: new MemoryView(onListenerError), log: memoryLog, clock, history })
  }

  const started = clock.monotonic()
  const file = path.join(directory, FILE)
  prepareDirectory(directory)
  // The worker thread and SQLite are loaded only when needed.
  const { SqliteLog } = await import('./sqlite/sqlite-log.ts')
  let view = new MemoryView(onListenerError)
  const superseded: number[] = []
  const changes = await SqliteLog.open(
    { file, maxBytes },
    {
      opened(oldest) {
        view = new MemoryView(onListenerError, oldest)
      },
      row(revision, resource, key, json) {
        superseded.push(...view.restore({ revision, resource, key, json }))
      },
    },
  )
  if (superseded.length > 0) changes.forget(view.oldest, superseded)
  log.info('storage opened', {
    file,
    revision: view.revision,
    oldest: view.oldest,
    milliseconds: Math.round(clock.monotonic() - started),
  })
  return new LoggedStorage({ view, log: (listener) => changes.listen(listener), clock, history })
}

function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory)
  } catch (cause) {
    throw new TenureError(
      'TENURE_STORAGE_UNUSABLE',
      `The data directory ${directory} cannot be made: ${(cause as Error).message}. Choose another.`,
      { cause },
    )
  }
}
