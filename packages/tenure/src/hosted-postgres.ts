import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { installedBinaries, POSTGRES_URL_FILE, startEmbeddedPostgres } from '@tenure/databases/embedded-postgres'
import { sleep, systemClock, TenureError } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { Table, Values } from '@tenure/runtime/configuration'
import type { HostedService } from '@tenure/controlplane'
import type { Progress } from './start/progress.ts'

/** The value of DB_HOST that stands for the server of `tenure start`. */
export const EMBEDDED_HOST = 'embedded'

/** The host writes the connection string before it starts its server, so a process that joined finds it soon. */
const MAX_URL_WAIT_MS = 10_000
const URL_CHECK_MS = 50

export interface HostedPostgresOptions {
  /** The data directory, as the user wrote it. */
  readonly directory: string
  readonly log: Logger
  readonly say: (line: string) => void
  readonly progress: Progress
}

/**
 * The PostgreSQL server beside the control plane: the process that hosts the one runs the other. Address and password stay
 * the same when another process takes over.
 */
export class HostedPostgres implements HostedService {
  readonly #options: HostedPostgresOptions
  readonly #urlFile: string

  constructor(options: HostedPostgresOptions) {
    this.#options = options
    this.#urlFile = path.join(options.directory, POSTGRES_URL_FILE)
  }

  /** Undefined: the settings name another server, or no operator needs one. Says so if there is none for this platform. */
  static needed(settings: Values<Table>, options: HostedPostgresOptions): HostedPostgres | 'unavailable' | undefined {
    if (settings['dbHost'] !== EMBEDDED_HOST) return undefined
    if (installedBinaries() !== undefined) return new HostedPostgres(options)
    options.say('PostgreSQL      not available for this platform: databases are left out. Set DB_HOST to use a server.')
    return 'unavailable'
  }

  async start(): Promise<{ stop(): Promise<void> }> {
    const { directory, log, progress } = this.#options
    const server = await startEmbeddedPostgres({
      directory,
      log,
      onExit: (code) => log.error('the embedded PostgreSQL ended', { code }),
    })
    progress.done('Started PostgreSQL')
    progress.address('PostgreSQL', `${server.host}:${server.port}, with psql "$(cat ${path.resolve(this.#urlFile)})"`)
    return server
  }

  /** The settings of operators that use the server. */
  async settings(signal: AbortSignal): Promise<Readonly<Record<string, string | number>>> {
    const url = await this.#url(signal)
    return {
      dbHost: url.hostname,
      dbPort: Number(url.port),
      dbUser: decodeURIComponent(url.username),
      dbPassword: decodeURIComponent(url.password),
      dbName: url.pathname.slice(1),
    }
  }

  async #url(signal: AbortSignal): Promise<URL> {
    const end = systemClock.monotonic() + MAX_URL_WAIT_MS
    for (;;) {
      const text = await readFile(this.#urlFile, 'utf8').catch(() => '')
      const url = URL.parse(text.trim())
      if (url) return url
      if (systemClock.monotonic() > end) {
        throw new TenureError(
          'TENURE_POSTGRES_URL_MISSING',
          `${this.#urlFile} does not appear. The process that runs the control plane is older than this one, or has no databases: stop it first.`,
        )
      }
      await sleep(systemClock, URL_CHECK_MS, signal)
    }
  }
}
