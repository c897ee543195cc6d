import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { SqliteFile } from './sqlite-file.ts'
import type { FlatRows, FromWorker, ToWorker, WorkerOptions } from './sqlite-messages.ts'
import { openErrorFor, writeFailure } from './sqlite-errors.ts'

/** Approximate rows per transaction, so that waiting writes are answered in time. */
const MAX_TRANSACTION_ROWS = 1000
/** Superseded rows are dropped in batches of this size: neighbours share pages, and most commits drop none. */
const DROP_BATCH_ROWS = 1024
/** They are dropped earlier once this many characters were written since the last time. */
const DROP_BATCH_CHARACTERS = 16_000_000

/** Owns the file: commits waiting writes together and reports the outcome. */
class Committer {
  readonly #options: WorkerOptions
  readonly #file: SqliteFile
  readonly #send: (message: FromWorker) => void
  #durable: number
  #failedEpoch = -1
  #isSuspect = false
  #oldest: number | undefined
  #superseded: readonly number[] = []
  #written = 0

  constructor(options: WorkerOptions, file: SqliteFile, durable: number, send: (message: FromWorker) => void) {
    this.#options = options
    this.#file = file
    this.#durable = durable
    this.#send = send
  }

  /** Handles a message and all that arrived in the meantime. */
  handle(first: ToWorker, next: () => ToWorker | undefined): void {
    let rows: FlatRows = []
    let epoch = 0
    for (let message: ToWorker | undefined = first; message; message = next()) {
      switch (message.type) {
        case 'append':
          this.#oldest = message.oldest ?? this.#oldest
          if (message.superseded.length > 0) this.#superseded = this.#superseded.concat(message.superseded)
          if (message.epoch <= this.#failedEpoch) break
          epoch = message.epoch
          rows = rows.length === 0 ? message.rows : rows.concat(message.rows)
          if (rows.length < MAX_TRANSACTION_ROWS * 4) break
          this.#commit(rows, epoch)
          rows = []
          break
        case 'close':
          if (rows.length > 0) this.#commit(rows, epoch)
          this.#close()
          return
        default:
          message satisfies never
      }
    }
    if (rows.length > 0) this.#commit(rows, epoch)
    else if (this.#superseded.length >= DROP_BATCH_ROWS) this.#drop()
  }

  #commit(rows: FlatRows, epoch: number): void {
    // An earlier part of the same batch has just failed.
    if (epoch <= this.#failedEpoch) return
    const failure = this.#tryCommit(rows)
    if (failure === undefined) {
      this.#durable = rows.at(-4) as number
      this.#send({ type: 'durable', revision: this.#durable })
      return
    }
    this.#failedEpoch = epoch
    this.#send({ type: 'failed', message: writeFailure(this.#options.file, failure) })
  }

  /** Returns the error, or undefined. */
  #tryCommit(rows: FlatRows): unknown {
    try {
      for (let at = 3; at < rows.length; at += 4) this.#written += (rows[at] as string | null)?.length ?? 0
      const isTimeToDrop = this.#superseded.length >= DROP_BATCH_ROWS || this.#written >= DROP_BATCH_CHARACTERS
      this.#write(rows, isTimeToDrop ? this.#superseded.slice(0, DROP_BATCH_ROWS) : [])
      return undefined
    } catch (error) {
      this.#recover()
      // Dropping superseded rows may free enough space.
      if (this.#superseded.length === 0 || !this.#drop()) return error
    }
    try {
      this.#write(rows, [])
      return undefined
    } catch (error) {
      this.#recover()
      return error
    }
  }

  #write(rows: FlatRows, dropped: readonly number[]): void {
    if (this.#isSuspect) this.#file.recover(this.#durable)
    this.#isSuspect = true
    const oldest = dropped.length > 0 || rows.length === 0 ? this.#oldest : undefined
    this.#file.commit(rows, oldest, dropped.toSorted(ascending))
    this.#isSuspect = false
    if (dropped.length === 0) return
    this.#superseded = this.#superseded.slice(dropped.length)
    this.#written = 0
  }

  /** Recovers at once, so that failed rows do not come back after a crash. If that fails, it is repeated before the next write. */
  #recover(): void {
    try {
      this.#file.recover(this.#durable)
      this.#isSuspect = false
    } catch {
      // The failure that led here is the one to report.
    }
  }

  /** Drops all superseded rows. If that fails, they are found and dropped when the file is next opened. */
  #drop(): boolean {
    if (this.#oldest === undefined) return true
    try {
      this.#write([], this.#superseded)
      return true
    } catch {
      // The next write meets the same disk, and its writer receives the error.
      this.#recover()
      return false
    }
  }

  #close(): void {
    this.#drop()
    this.#file.close()
    this.#send({ type: 'closed' })
  }
}

const ascending = (a: number, b: number): number => a - b

function load(options: WorkerOptions, send: (message: FromWorker) => void): Committer {
  const file = SqliteFile.open(options)
  try {
    const oldest = file.oldest()
    send({ type: 'opened', oldest })
    let newest = oldest
    for (const rows of file.rows(oldest)) {
      newest = Math.max(newest, rows.at(-4) as number)
      send({ type: 'rows', rows })
    }
    send({ type: 'loaded' })
    return new Committer(options, file, newest, send)
  } catch (error) {
    file.close()
    throw error
  }
}

if (parentPort) {
  const port = parentPort
  const options = workerData as WorkerOptions
  const send = (message: FromWorker): void => port.postMessage(message)
  try {
    const committer = load(options, send)
    port.on('message', (message: ToWorker) => {
      committer.handle(message, () => receiveMessageOnPort(port)?.message as ToWorker | undefined)
    })
  } catch (error) {
    const { code, message } = openErrorFor(options.file, error)
    send({ type: 'refused', code, message })
  }
}
