import { asError, ConnectionError } from '../../errors/errors.ts'
import type { Clock } from '../../clock.ts'
import type { Credential, CredentialSource, CredentialSourceOptions } from './credential-source.ts'
import type { Files } from '../files.ts'
import type { SecretValue } from '../secret-value.ts'

/** Milliseconds for which the content of a token file is cached. The kubelet rotates tokens long before they expire. */
const TOKEN_FILE_MAX_AGE = 60_000

/** A token in a file that another process rotates. */
export class TokenFile implements CredentialSource {
  readonly #path: string
  readonly #origin: string
  readonly #clock: Clock
  readonly #files: Files
  #current: Credential | undefined
  #staleAt = -Infinity
  #reading: Promise<Credential> | undefined

  constructor(path: string, fallback: SecretValue | undefined, origin: string, options: CredentialSourceOptions) {
    this.#path = path
    this.#origin = origin
    this.#clock = options.clock
    this.#files = options.files
    if (fallback) this.#current = { authorization: `Bearer ${fallback.reveal()}` }
  }

  get(): Credential | Promise<Credential> {
    if (this.#current && this.#clock.monotonic() < this.#staleAt) return this.#current
    return this.#read()
  }

  renew(rejected: Credential): Promise<Credential> {
    if (this.#current && this.#current !== rejected) return Promise.resolve(this.#current)
    return this.#read()
  }

  close(): void {}

  #read(): Promise<Credential> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readOnce(): Promise<Credential> {
    try {
      const token = (await this.#files.read(this.#path)).trim()
      if (token === '') throw new Error('The file is empty')
      const authorization = `Bearer ${token}`
      if (this.#current?.authorization !== authorization) this.#current = { authorization }
    } catch (error) {
      // The file can be missing for a moment while a volume is updated; the last token is probably still valid.
      if (!this.#current) {
        throw new ConnectionError(
          'TENURE_KUBECONFIG_TOKEN_FILE',
          `The token file ${this.#path} of ${this.#origin} cannot be used (${asError(error).message}): restore it or log in again.`,
          { cause: error },
        )
      }
    }
    this.#staleAt = this.#clock.monotonic() + TOKEN_FILE_MAX_AGE
    return this.#current
  }
}
