import { getCompileCacheDir } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { TenureError } from '@tenure/kube'
import { StatusError } from '../../errors.ts'
import type { ChangeLog, ChangeLogListener } from '../change-log.ts'
import type { FlatRows, FromWorker, ToWorker, WorkerOptions } from './sqlite-messages.ts'
import type { Change } from '../types.ts'

export interface LogReader {
  /** Called first: rows of the state at this revision follow, then the history. */
  opened(oldest: number): void
  row(revision: number, resource: string, key: string, json: string | null): void
}

/** Superseded revisions are reported at once when there are this many, even without new changes. */
const MAX_SUPERSEDED_REVISIONS = 1024
/** Batches sent to the thread: one being committed and one ready to follow. */
const MAX_BATCHES_IN_FLIGHT = 2

/** The worker next to this file: TypeScript as written, or JavaScript in a bundle that has the worker as an entry. */
function workerUrl(): URL {
  const own = import.meta.url
  return own.endsWith('.ts') ? new URL('./sqlite-worker.ts', own) : new URL('./sqlite-worker.js', own)
}

// A thread does not inherit a compile cache enabled by a call. Without it, stripping types costs 75 ms and 25 MB.
function environment(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  return { ...process.env, ...withoutWarning(), ...(directory !== undefined && { NODE_COMPILE_CACHE: directory }) }
}

// Node 22 calls node:sqlite experimental. The variable is the only way to options that keeps those of V8. Newer versions
// do not need it, and a thread refuses some options of the variable that a process takes.
function withoutWarning(): NodeJS.ProcessEnv {
  if (!process.versions.node.startsWith('22.')) return {}
  return { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --disable-warning=ExperimentalWarning` }
}

/**
 * A log in a file, written by a worker thread, so that the main thread never waits for the disk. Changes go to the
 * thread as they come; those that are waiting when a commit ends form the next commit.
 */
export class SqliteLog implements ChangeLog {
  readonly #worker: Worker
  #listener: ChangeLogListener | undefined
  #rows: FlatRows = []
  #oldest: number | undefined
  #superseded: number[] = []
  #isScheduled = false
  /** The last revisions of the batches that were sent and are not durable yet. */
  #inFlight: number[] = []
  #epoch = 0
  #broken: Error | undefined
  #closed: (() => void) | undefined

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  /** Opens the file and reads it. Rejects with a TenureError on failure. */
  static async open(options: WorkerOptions, reader: LogReader): Promise<SqliteLog> {
    const worker = new Worker(workerUrl(), { workerData: options, name: 'storage', env: environment() })
    const log = new SqliteLog(worker)
    try {
      await log.#read(options.file, reader)
    } catch (error) {
      await worker.terminate()
      throw error
    }
    return log
  }

  /** Sets the listener that receives the outcome of changes. */
  listen(listener: ChangeLogListener): this {
    this.#listener = listener
    return this
  }

  append({ revision, resource, key, current }: Change): void {
    if (this.#broken) throw this.#broken
    this.#rows.push(revision, resource, key, current ? current.json : null)
    this.#schedule()
  }

  /** Sent with the next changes: dropping rows is not urgent. */
  forget(oldest: number, superseded: readonly number[]): void {
    this.#oldest = oldest
    for (const revision of superseded) this.#superseded.push(revision)
    if (this.#superseded.length >= MAX_SUPERSEDED_REVISIONS) this.#schedule()
  }

  async close(): Promise<void> {
    if (!this.#broken) {
      this.#flush()
      await new Promise<void>((resolve) => {
        this.#closed = resolve
        this.#post({ type: 'close' })
      })
    }
    this.#listener = undefined
    await this.#worker.terminate()
  }

  // Waking the thread costs more than sending a change, so all changes of one turn of the event loop are sent together,
  // and none while a commit is already waiting in the thread.
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.length >= MAX_BATCHES_IN_FLIGHT) return
    this.#isScheduled = true
    nextTurn(() => this.#flush())
  }

  #flush(): void {
    this.#isScheduled = false
    const rows = this.#rows
    const oldest = this.#oldest
    const superseded = this.#superseded
    if (rows.length === 0 && oldest === undefined) return
    this.#rows = []
    this.#oldest = undefined
    this.#superseded = []
    if (rows.length > 0) this.#inFlight.push(rows.at(-4) as number)
    this.#post({ type: 'append', epoch: this.#epoch, rows, oldest, superseded })
  }

  #read(file: string, reader: LogReader): Promise<void> {
    return new Promise((resolve, reject) => {
      let isLoaded = false
      const fail = (error: Error): void => {
        if (isLoaded) this.#onLost(error)
        else reject(error)
      }
      this.#worker.on('message', (message: FromWorker) => {
        if (isLoaded) this.#onMessage(message)
        else if (message.type === 'loaded') {
          isLoaded = true
          resolve()
        } else {
          try {
            read(message, file, reader)
          } catch (error) {
            reject(error)
          }
        }
      })
      this.#worker.on('error', (error) => fail(stopped(file, error)))
      this.#worker.on('exit', () => fail(stopped(file)))
    })
  }

  #onMessage(message: FromWorker): void {
    switch (message.type) {
      case 'durable':
        this.#inFlight = this.#inFlight.filter((revision) => revision > message.revision)
        if (this.#rows.length > 0) this.#schedule()
        this.#listener?.durable(message.revision)
        return
      case 'failed':
        this.#lose(new StatusError(500, 'InternalError', message.message))
        return
      case 'closed':
        this.#closed?.()
        return
      case 'opened':
      case 'rows':
      case 'loaded':
      case 'refused':
        return
      default:
        message satisfies never
    }
  }

  #lose(error: Error): void {
    this.#epoch++
    this.#rows = []
    this.#inFlight = []
    this.#listener?.failed(error)
  }

  #onLost(error: Error): void {
    if (this.#broken) return
    this.#broken = new StatusError(500, 'InternalError', error.message)
    this.#closed?.()
    this.#lose(this.#broken)
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message, [])
  }
}

function read(message: FromWorker, file: string, reader: LogReader): void {
  if (message.type === 'opened') reader.opened(message.oldest)
  if (message.type === 'refused') throw new TenureError(message.code, message.message)
  if (message.type !== 'rows') return
  const { rows } = message
  for (let at = 0; at < rows.length; at += 4) {
    try {
      reader.row(rows[at] as number, rows[at + 1] as string, rows[at + 2] as string, rows[at + 3] as string | null)
    } catch (error) {
      throw new TenureError(
        'TENURE_STORAGE_DAMAGED',
        `The storage in ${file} is damaged: ${(error as Error).message}. It is not changed: restore it from a copy, or move it away to start empty.`,
        { cause: error },
      )
    }
  }
}

function stopped(file: string, cause?: unknown): TenureError {
  return new TenureError(
    'TENURE_STORAGE_STOPPED',
    `The thread that writes ${file} has stopped: nothing more is stored. Start the control plane again.`,
    { cause },
  )
}
