import { asError, ConnectionError } from '../errors/errors.ts'
import { readPem } from '../config/pem.ts'
import type { Clock } from '../clock.ts'
import type { ConnectionConfig, PemSource } from '../config/connection-config.ts'
import type { Files } from '../config/files.ts'

/** Authority, certificate and key as PEM. Immutable: changed material is a new object. */
export interface TlsMaterial {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

/** Milliseconds between checks of the files for changes. */
const CHECK_INTERVAL_MS = 60_000
/** Milliseconds until the next check after invalid files: a change of certificate and key may have been half done. */
const RETRY_INTERVAL_MS = 5_000

/** The TLS material of a configuration, read again when one of its files changes. */
export class TlsFiles {
  readonly #config: ConnectionConfig
  readonly #files: Files
  readonly #clock: Clock
  readonly #paths: readonly string[]
  #material: TlsMaterial | undefined
  #stamps = ''
  #nextCheck = -Infinity
  #checking: Promise<TlsMaterial> | undefined

  constructor(config: ConnectionConfig, files: Files, clock: Clock) {
    this.#config = config
    this.#files = files
    this.#clock = clock
    const { ca, certificate } = config.tls
    this.#paths = [ca, certificate?.cert, certificate?.key].flatMap((pem) => (pem && 'file' in pem ? [pem.file] : []))
  }

  /** The current material; a promise only when the files are due for a check. */
  get(): TlsMaterial | Promise<TlsMaterial> {
    if (this.#material && (this.#paths.length === 0 || this.#clock.monotonic() < this.#nextCheck)) return this.#material
    return this.check()
  }

  /** Checks the files now. */
  check(): Promise<TlsMaterial> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  /** Checks again soon, because a connection with this material failed. */
  distrust(): void {
    this.#nextCheck = Math.min(this.#nextCheck, this.#clock.monotonic() + RETRY_INTERVAL_MS)
  }

  async #check(): Promise<TlsMaterial> {
    const before = this.#material
    try {
      const material = await this.#readChanged(before)
      this.#nextCheck = this.#clock.monotonic() + CHECK_INTERVAL_MS
      this.#material = material
      return material
    } catch (error) {
      // The old material may still work; if it does not, the connection fails with a better error.
      if (!before) throw this.#failure(error)
      this.#nextCheck = this.#clock.monotonic() + RETRY_INTERVAL_MS
      return before
    }
  }

  /** The same object as before unless the content of a file changed. */
  async #readChanged(before: TlsMaterial | undefined): Promise<TlsMaterial> {
    const stamps = (await Promise.all(this.#paths.map((path) => this.#files.stamp(path)))).join(' ')
    if (before && stamps === this.#stamps) return before
    const material = await this.#read()
    await validate(material, this.#config.origin)
    this.#stamps = stamps
    return before && isSame(before, material) ? before : material
  }

  async #read(): Promise<TlsMaterial> {
    const { ca, certificate } = this.#config.tls
    const read = (source: PemSource | undefined): Promise<string | undefined> =>
      source ? readPem(this.#files, source) : Promise.resolve(undefined)
    const [authority, cert, key] = await Promise.all([read(ca), read(certificate?.cert), read(certificate?.key)])
    return { ca: authority, cert, key }
  }

  #failure(error: unknown): Error {
    if (error instanceof ConnectionError) return error
    return new ConnectionError(
      'TENURE_KUBECONFIG_FILE',
      `A certificate file of ${this.#config.origin} cannot be read (${asError(error).message}): restore it or correct its path.`,
      { cause: error },
    )
  }
}

/** Rejects unless the authority can be read and the key belongs to the certificate. */
export async function validate(material: TlsMaterial, origin: string): Promise<void> {
  const { ca, cert, key } = material
  // Nothing to check, so node:tls is not loaded.
  if (ca === undefined && cert === undefined) return
  const { createSecureContext } = await import('node:tls')
  try {
    createSecureContext({ ca, cert, key })
  } catch (error) {
    throw new ConnectionError(
      'TENURE_KUBECONFIG_CERTIFICATE',
      `The certificates of ${origin} cannot be used (${asError(error).message}): they must be PEM, and the client key must belong to the client certificate.`,
      { cause: error },
    )
  }
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key
}
