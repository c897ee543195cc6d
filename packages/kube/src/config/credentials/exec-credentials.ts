import { withTimeout } from '../../clock.ts'
import { asError, ConnectionError, TenureError } from '../../errors/errors.ts'
import { systemCode } from '../files.ts'
import { readExecCredential, writeExecInfo } from './exec-protocol.ts'
import type { Clock } from '../../clock.ts'
import type { ExecConfig } from '../connection-config.ts'
import type { Credential, CredentialSource, CredentialSourceOptions } from './credential-source.ts'
import type { CommandResult } from './run-command.ts'

/** Milliseconds for a plugin that does not prompt the user. */
const PLUGIN_TIMEOUT = 60_000

/** Milliseconds in which a credential that was fetched after a 401 and rejected again is not fetched a third time. */
const RENEWAL_PAUSE = 10_000

interface Fetched {
  readonly credential: Credential
  /** Wall time in milliseconds; undefined if it does not expire. */
  readonly expires: number | undefined
  /** Monotonic time of the fetch, if a 401 caused it. */
  readonly renewedAt: number | undefined
}

/** Credentials from an exec plugin: cached until they expire or are rejected. Concurrent callers share one run. */
export class ExecCredentials implements CredentialSource {
  readonly #exec: ExecConfig
  readonly #origin: string
  readonly #options: CredentialSourceOptions
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #fetched: Fetched | undefined
  #running: Promise<Credential> | undefined

  constructor(exec: ExecConfig, origin: string, options: CredentialSourceOptions) {
    this.#exec = exec
    this.#origin = origin
    this.#options = options
    this.#clock = options.clock
  }

  get(): Credential | Promise<Credential> {
    const { expires, credential } = this.#fetched ?? {}
    if (credential && (expires === undefined || this.#clock.now() < expires)) return credential
    return this.#fetch(false)
  }

  renew(rejected: Credential): Promise<Credential> {
    const fetched = this.#fetched
    if (fetched && fetched.credential !== rejected) return Promise.resolve(this.get())
    if (fetched?.renewedAt !== undefined && this.#clock.monotonic() - fetched.renewedAt < RENEWAL_PAUSE) {
      return Promise.resolve(rejected)
    }
    return this.#fetch(true)
  }

  close(): void {
    this.#closed.abort(new ConnectionError('TENURE_TRANSPORT_CLOSED', 'The connection to the API server was closed.'))
  }

  #fetch(afterRejection: boolean): Promise<Credential> {
    this.#running ??= this.#fetchOnce(afterRejection).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #fetchOnce(afterRejection: boolean): Promise<Credential> {
    const result = await this.#run()
    if (result.exit !== 0) {
      const said = result.stderr.trim().split('\n').at(-1) ?? ''
      throw this.#failure(`ended with ${result.exit}${said === '' ? '' : `, saying "${said.slice(0, 300)}"`}`)
    }
    const fetched = readExecCredential(result.stdout, this.#exec.apiVersion)
    if (typeof fetched === 'string') throw this.#failure(fetched)
    const before = this.#fetched?.credential
    this.#fetched = {
      credential: before && isSame(before, fetched.credential) ? before : fetched.credential,
      expires: fetched.expires,
      renewedAt: afterRejection ? this.#clock.monotonic() : undefined,
    }
    return this.#fetched.credential
  }

  async #run(): Promise<CommandResult> {
    const { command, args, env, interactiveMode, cluster, apiVersion } = this.#exec
    const interactive = interactiveMode !== 'Never' && this.#options.isTerminal()
    if (interactiveMode === 'Always' && !interactive) {
      throw this.#failure('must prompt the user, but standard input is not a terminal')
    }
    const info = await writeExecInfo(apiVersion, interactive, cluster, this.#options.files)
    const limit = interactive
      ? undefined
      : withTimeout(
          this.#clock,
          PLUGIN_TIMEOUT,
          () => new Error(`no result within ${PLUGIN_TIMEOUT / 1000} s`),
          this.#closed.signal,
        )
    const signal = limit?.signal ?? this.#closed.signal
    try {
      return await this.#options.run({
        command,
        args,
        env: { ...env.reveal(), KUBERNETES_EXEC_INFO: info },
        interactive,
        signal,
      })
    } catch (error) {
      const cause = asError(signal.aborted ? signal.reason : error)
      if (cause instanceof TenureError) throw cause
      if (systemCode(cause) === 'ENOENT') throw this.#failure('is not installed', cause)
      throw this.#failure(`could not be run (${cause.message})`, cause)
    } finally {
      limit?.dispose()
    }
  }

  #failure(what: string, cause?: unknown): ConnectionError {
    const { command, installHint } = this.#exec
    // A hint may have several lines; a message has one.
    const hint = installHint?.trim().replaceAll(/\s*\n\s*/g, ' ') ?? `run "${command}" to see the problem`
    return new ConnectionError(
      'TENURE_KUBECONFIG_EXEC',
      `The credential plugin "${command}" of ${this.#origin} ${what}: ${hint}`,
      { cause },
    )
  }
}

function isSame(a: Credential, b: Credential): boolean {
  return (
    a.authorization === b.authorization &&
    a.certificate?.cert === b.certificate?.cert &&
    a.certificate?.key === b.certificate?.key
  )
}
