import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '@tenure/kube'
import { asError, TenureError } from '@tenure/kube'
import type { CertificateSource } from '@tenure/runtime/webhooks'
import type { Logger } from '@tenure/runtime'

/** A certificate and its key in files, which may be replaced. */
export interface CertificateFilePaths {
  readonly certificateFile: string
  readonly keyFile: string
  /** The settings with the paths, for messages. Default: none. */
  readonly settings?: { readonly certificate: string; readonly key: string }
}

/** A certificate with its chain and key: as PEM, as files that may be replaced, or from a certificate source. */
export type TlsOptions =
  | { readonly certificate: string; readonly key: string }
  | CertificateFilePaths
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
  return new CertificateFiles({ files: options, clock, log }, await readPair(options))
}

/** Throws unless the files hold a certificate and its key. */
export async function checkTlsFiles(files: CertificateFilePaths): Promise<void> {
  await readPair(files)
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

interface CertificateFilesOptions {
  readonly files: CertificateFilePaths
  readonly clock: Clock
  readonly log: Logger
}

class CertificateFiles implements ServingCertificate {
  readonly #options: CertificateFilesOptions
  #pair: Pair
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: CertificateFilesOptions, pair: Pair) {
    this.#options = options
    this.#pair = pair
  }

  get pair(): Pair {
    return this.#pair
  }

  watch(onChange: (pair: Pair) => void): void {
    this.#timer = this.#options.clock.setTimer(CHECK_INTERVAL_MS, () => void this.#check(onChange))
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #check(onChange: (pair: Pair) => void): Promise<void> {
    const { files, log } = this.#options
    try {
      const pair = await readPair(files)
      const isNew = pair.certificate !== this.#pair.certificate || pair.key !== this.#pair.key
      this.#pair = pair
      if (isNew && !this.#isClosed) onChange(pair)
    } catch (error) {
      // The two files are rarely replaced at the same moment, and the old pair still works.
      const { certificateFile } = files
      log.warn('certificate files are invalid, keeping the old certificate', { certificateFile, error: asError(error) })
    }
    if (!this.#isClosed) this.watch(onChange)
  }
}

async function readPair({ certificateFile, keyFile, settings }: CertificateFilePaths): Promise<Pair> {
  const hints = settings && { certificate: `; check ${settings.certificate}`, key: `; check ${settings.key}` }
  // In sequence: if both files are missing, the error always names the same one.
  const certificate = await readText(certificateFile, hints?.certificate)
  const key = await readText(keyFile, hints?.key)
  return checked(
    { certificate, key },
    {
      certificate: certificateFile,
      key: keyFile,
      certificateHint: hints?.certificate ?? '',
      keyHint: hints?.key ?? '',
      pairHint: settings ? `; check ${settings.certificate} and ${settings.key}` : '',
    },
  )
}

function readText(file: string, hint = ': check that it exists and is readable'): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    const { code } = asError(cause) as NodeJS.ErrnoException
    const reason = REASONS[code ?? ''] ?? asError(cause).message
    throw new TenureError('TENURE_HTTP_CERTIFICATE', `${file} cannot be read (${reason})${hint}.`, { cause })
  })
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
}

interface PairNames {
  readonly certificate: string
  readonly key: string
  readonly certificateHint: string
  readonly keyHint: string
  readonly pairHint: string
}

const GIVEN_PAIR: PairNames = {
  certificate: 'The given certificate',
  key: 'The given key',
  certificateHint: '',
  keyHint: '',
  pairHint: '',
}

/** Throws unless the key belongs to the certificate. */
function checked(pair: Pair, names: PairNames = GIVEN_PAIR): Pair {
  const { certificate, key } = pair
  const leaf = parsed(
    () => new X509Certificate(certificate),
    `${names.certificate} is not a certificate in PEM${names.certificateHint}.`,
  )
  const own = parsed(
    () => createPrivateKey(key),
    `${names.key} is not a private key in PEM without a passphrase${names.keyHint}.`,
  )
  if (!leaf.checkPrivateKey(own)) {
    throw new TenureError(
      'TENURE_HTTP_CERTIFICATE',
      `${names.key} is not the key of ${names.certificate}${names.pairHint}.`,
    )
  }
  parsed(
    () => createSecureContext({ cert: certificate, key }),
    `${names.certificate} cannot be served${names.pairHint}.`,
  )
  return pair
}

function parsed<T>(parse: () => T, problem: string): T {
  try {
    return parse()
  } catch (cause) {
    throw new TenureError('TENURE_HTTP_CERTIFICATE', problem, { cause })
  }
}
