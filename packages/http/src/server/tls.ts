import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '@tenure/kube'
import { asError, TenureError } from '@tenure/kube'
import type { CertificateSource } from '@tenure/runtime/webhooks'
import type { Logger } from '@tenure/runtime'

/** A certificate with its chain and key: as PEM, as files that may be replaced, or from a certificate source. */
export type TlsOptions =
  | { readonly certificate: string; readonly key: string }
  | { readonly certificateFile: string; readonly keyFile: string }
  | CertificateSource

export interface Pair {
  readonly certificate: string
  readonly key: string
}

/** Milliseconds between checks of the files: Kubernetes replaces mounted Secrets. */
const CHECK_INTERVAL_MS = 10_000

/** The current certificate, and notifications of new ones. */
export interface ServingCertificate {
  readonly pair: Pair
  /** Calls back with each new pair until `close`. */
  watch(onChange: (pair: Pair) => void): void
  close(): void
}

export async function openTls(options: TlsOptions, clock: Clock, log: Logger): Promise<ServingCertificate> {
  if ('serving' in options) return fromSource(options)
  if ('certificate' in options) return { pair: checked(options), watch: () => undefined, close: () => undefined }
  const { certificateFile, keyFile } = options
  const files = new CertificateFiles({ certificateFile, keyFile, clock, log }, await readPair(certificateFile, keyFile))
  return files
}

function fromSource(source: CertificateSource): ServingCertificate {
  let end: (() => void) | undefined
  const pairOf = (): Pair => ({ certificate: source.serving.certificate, key: source.serving.key })
  return {
    get pair() {
      return pairOf()
    },
    watch(onChange) {
      end = source.subscribe(() => onChange(pairOf()))
    },
    close: () => end?.(),
  }
}

interface Files {
  readonly certificateFile: string
  readonly keyFile: string
  readonly clock: Clock
  readonly log: Logger
}

class CertificateFiles implements ServingCertificate {
  readonly #files: Files
  #pair: Pair
  #timer: Timer | undefined
  #isClosed = false

  constructor(files: Files, pair: Pair) {
    this.#files = files
    this.#pair = pair
  }

  get pair(): Pair {
    return this.#pair
  }

  watch(onChange: (pair: Pair) => void): void {
    this.#timer = this.#files.clock.setTimer(CHECK_INTERVAL_MS, () => void this.#check(onChange))
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #check(onChange: (pair: Pair) => void): Promise<void> {
    const { certificateFile, keyFile, log } = this.#files
    try {
      const pair = await readPair(certificateFile, keyFile)
      const isNew = pair.certificate !== this.#pair.certificate || pair.key !== this.#pair.key
      this.#pair = pair
      if (isNew && !this.#isClosed) onChange(pair)
    } catch (error) {
      // The two files are rarely replaced at the same moment, and the old pair still works.
      log.warn('certificate files are invalid, keeping the old certificate', { certificateFile, error: asError(error) })
    }
    if (!this.#isClosed) this.watch(onChange)
  }
}

async function readPair(certificateFile: string, keyFile: string): Promise<Pair> {
  // In sequence: if both files are missing, the error always names the same one.
  const certificate = await readText(certificateFile)
  const key = await readText(keyFile)
  return checked({ certificate, key }, ` in ${certificateFile} and ${keyFile}`)
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new TenureError('TENURE_HTTP_CERTIFICATE', `${file} cannot be read: check that it exists and is readable.`, {
      cause,
    })
  })
}

/** Throws unless the key belongs to the certificate. */
function checked({ certificate, key }: Pair, where = ''): Pair {
  try {
    void new X509Certificate(certificate)
    createSecureContext({ cert: certificate, key })
  } catch (cause) {
    throw new TenureError(
      'TENURE_HTTP_CERTIFICATE',
      `The certificate and the key${where} cannot be used together: ${asError(cause).message}.`,
      { cause },
    )
  }
  return { certificate, key }
}
