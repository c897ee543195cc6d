import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { SqliteFile } from './sqlite-file.ts'
import type { FlatRows, FromWorker, ToWorker, WorkerOptions } from './sqlite-messages.ts'
import { refusalFor, writeFailure } from './sqlite-errors.ts'

/** A transaction takes at most this many rows, and a few of the last message: what waits is answered in time. */
const MOST_ROWS = 1000
/** Superseded rows are dropped this many at a time: neighbours share pages, and most commits drop none. */
const DROP_AT = 1024
/** Sooner if this many characters were written since. */
const DROP_AT_BYTES = 16_000_000

/** Owns the file: gathers the writes that wait, commits them together, and says what became of them. */
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

  /** Handles a message, and all that came in the meantime. */
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
          if (rows.length < MOST_ROWS * 4) break
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
    else if (this.#superseded.length >= DROP_AT) this.#drop()
  }

  #commit(rows: FlatRows, epoch: number): void {
    // A batch of which an earlier part has just failed.
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

  /** Returns what went wrong. */
  #tryCommit(rows: FlatRows): unknown {
    try {
      for (let at = 3; at < rows.length; at += 4) this.#written += (rows[at] as string | null)?.length ?? 0
      const isTimeToDrop = this.#superseded.length >= DROP_AT || this.#written >= DROP_AT_BYTES
      this.#write(rows, isTimeToDrop ? this.#superseded.slice(0, DROP_AT) : [])
      return undefined
    } catch (error) {
      this.#recover()
      // There may be space once nothing is kept that is not needed.
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

  /** At once, so that what failed does not come back after a crash. If that fails too, again before the next write. */
  #recover(): void {
    try {
      this.#file.recover(this.#durable)
      this.#isSuspect = false
    } catch {
      // The failure that led here is the one to report.
    }
  }

  /** Drops all that holds nothing. If that fails, it is found and dropped again when the file is next opened. */
  #drop(): boolean {
    if (this.#oldest === undefined) return true
    try {
      this.#write([], this.#superseded)
      return true
    } catch {
      // The next write meets the same disk, and its writer is told.
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
    const { code, message } = refusalFor(options.file, error)
    send({ type: 'refused', code, message })
  }
}
