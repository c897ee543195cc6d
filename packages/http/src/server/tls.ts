import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '@tenure/kube'
import { asError, TenureError } from '@tenure/kube'
import type { CertificateSource, Logger } from '@tenure/runtime'

/** A certificate, with the chain behind it, and its key: as PEM, as files that may be replaced, or from whoever keeps them. */
export type TlsOptions =
  | { readonly certificate: string; readonly key: string }
  | { readonly certificateFile: string; readonly keyFile: string }
  | CertificateSource

export interface Pair {
  readonly certificate: string
  readonly key: string
}

/** How often files are looked at, in milliseconds: Kubernetes replaces mounted Secrets by itself. */
const LOOK_EVERY = 10_000

/** The certificate that is served now, and word of the next. */
export interface TlsKeeper {
  readonly pair: Pair
  /** Calls back with each new pair until `close`. */
  watch(onChange: (pair: Pair) => void): void
  close(): void
}

export async function openTls(options: TlsOptions, clock: Clock, log: Logger): Promise<TlsKeeper> {
  if ('serving' in options) return sourceKeeper(options)
  if ('certificate' in options) return { pair: checked(options), watch: () => undefined, close: () => undefined }
  const { certificateFile, keyFile } = options
  const files = new FileKeeper({ certificateFile, keyFile, clock, log }, await readPair(certificateFile, keyFile))
  return files
}

function sourceKeeper(source: CertificateSource): TlsKeeper {
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

class FileKeeper implements TlsKeeper {
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
    this.#timer = this.#files.clock.setTimer(LOOK_EVERY, () => void this.#look(onChange))
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #look(onChange: (pair: Pair) => void): Promise<void> {
    const { certificateFile, keyFile, log } = this.#files
    try {
      const pair = await readPair(certificateFile, keyFile)
      const isNew = pair.certificate !== this.#pair.certificate || pair.key !== this.#pair.key
      this.#pair = pair
      if (isNew && !this.#isClosed) onChange(pair)
    } catch (error) {
      // Both files are rarely replaced in the same moment, and the old pair still works.
      log.warn('certificate files cannot be used; the old ones go on', { certificateFile, error: asError(error) })
    }
    if (!this.#isClosed) this.watch(onChange)
  }
}

async function readPair(certificateFile: string, keyFile: string): Promise<Pair> {
  // One after the other: when both are missing, everybody is told of the same one.
  const certificate = await readText(certificateFile)
  const key = await readText(keyFile)
  return checked({ certificate, key }, ` in ${certificateFile} and ${keyFile}`)
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new TenureError('TENURE_HTTP_CERTIFICATE', `${file} cannot be read.`, { cause })
  })
}

/** Throws unless the key is the certificate's. */
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
