import { readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { asError, type Clock, TenureError, type Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'

/** Milliseconds between checks. Kubernetes replaces mounted files by links, which no file watch reports reliably. */
const CHECK_INTERVAL_MS = 1_000

/** A text that may change. */
export interface TextSource {
  readonly text: string
  /** Calls back after each change until `stop`. */
  start(onChange: () => void): void
  stop(): void
}

export interface TextFileContext {
  readonly clock: Clock
  readonly log: Logger
}

/** A file that is read again when it changes. */
export class TextFile implements TextSource {
  readonly #path: string
  readonly #context: TextFileContext
  #text: string
  #version = ''
  #timer: Timer | undefined
  #isStopped = false

  /** Throws a TenureError that names the file if it cannot be read. */
  constructor(path: string, what: string, context: TextFileContext) {
    this.#path = path
    this.#context = context
    try {
      this.#text = readFileSync(path, 'utf8')
    } catch (cause) {
      const message = `${what} ${path} cannot be read: check that it exists and is readable.`
      throw new TenureError('TENURE_CONFIGURATION_INVALID', message, { cause, fate: 'terminal' })
    }
  }

  get text(): string {
    return this.#text
  }

  start(onChange: () => void): void {
    this.#isStopped = false
    this.#timer = this.#context.clock.setTimer(CHECK_INTERVAL_MS, () => void this.#check(onChange))
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  async #check(onChange: () => void): Promise<void> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version !== this.#version) {
        const text = await readFile(this.#path, 'utf8')
        this.#version = version
        const isNew = text !== this.#text
        this.#text = text
        if (isNew && !this.#isStopped) onChange()
      }
    } catch (error) {
      // A file that is being replaced may be missing for a moment. The last text stays in use.
      const version = `error: ${asError(error).message}`
      if (version !== this.#version)
        this.#context.log.warn('file cannot be read, keeping its last content', {
          file: this.#path,
          error: asError(error),
        })
      this.#version = version
    }
    if (!this.#isStopped) this.start(onChange)
  }
}
