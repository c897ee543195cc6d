import type { KeyObject } from 'node:crypto'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { Clock, Random } from '@tenure/kube'
import { systemClock, systemRandom, TenureError } from '@tenure/kube'
import type { Subject, Usage } from './x509.ts'
import {
  authorityExtensions,
  encodeName,
  keyIdentifierOf,
  leafExtensions,
  readIdentity,
  signCertificate,
  toPem,
} from './x509.ts'

const DAY = 86_400_000

/** Milliseconds by which `notBefore` is backdated, so that clients with a slow clock accept the certificate. */
export const BACKDATE_MS = 5 * 60_000

/** Random octets of a serial number: unique without a counter, and within RFC 5280's limit of 20. */
const SERIAL_LENGTH = 16

export interface AuthorityContext {
  /** Default: the system clock. */
  readonly clock?: Clock | undefined
  /** Source of serial numbers; keys always come from the system's generator. Default: the system's. */
  readonly random?: Random | undefined
}

export interface AuthorityOptions extends Subject, AuthorityContext {
  /** Lifetime in milliseconds. Default ten years. */
  readonly validFor?: number | undefined
}

export interface CertificateRequest extends Subject {
  /** For a client certificate Kubernetes takes `commonName` as the user and each of `organizations` as a group. */
  readonly usage: Usage | readonly Usage[]
  /** Host names, including wildcards such as `*.example.dev`. Default none. */
  readonly dnsNames?: readonly string[] | undefined
  /** IPv4 and IPv6 addresses. Default none. */
  readonly ipAddresses?: readonly string[] | undefined
  /** Lifetime in milliseconds, capped at the authority's own end. Default 90 days. */
  readonly validFor?: number | undefined
}

/** A certificate and its private key (PKCS#8), both PEM. */
export interface CertificateWithKey {
  readonly certificate: string
  readonly key: string
}

/** A CA certificate with its private key, which issues certificates. */
export interface Authority extends CertificateWithKey {
  /** Milliseconds since 1970. */
  readonly notBefore: number
  /** Milliseconds since 1970. */
  readonly notAfter: number
  issue(request: CertificateRequest): CertificateWithKey
}

/** Creates a self-signed CA (ECDSA P-256). It may sign leaf certificates, but no further CAs. */
export function createAuthority(options: AuthorityOptions): Authority {
  const { clock = systemClock, random = systemRandom, validFor = 3650 * DAY } = options
  const { privateKey, spki } = newKeyPair()
  const name = encodeName(options)
  const now = clock.now()
  const certificate = signCertificate(
    {
      serial: newSerial(random),
      issuer: name,
      subject: name,
      notBefore: now - BACKDATE_MS,
      notAfter: now + validFor,
      publicKey: spki,
      extensions: authorityExtensions(keyIdentifierOf(spki)),
    },
    privateKey,
  )
  return new LoadedAuthority(toPem(certificate), privateKey, { clock, random })
}

/** Loads an authority from PEM: one created here before, or any other with an EC or RSA key. */
export function loadAuthority(certificate: string, key: string, context: AuthorityContext = {}): Authority {
  let privateKey: KeyObject
  let parsed: X509Certificate
  try {
    parsed = new X509Certificate(certificate)
    privateKey = createPrivateKey(key)
  } catch (cause) {
    throw unusable('its PEM cannot be parsed', cause)
  }
  if (!parsed.ca) throw unusable('it is not a CA certificate (basicConstraints)')
  if (!parsed.checkPrivateKey(privateKey)) throw unusable('the private key does not belong to the certificate')
  return new LoadedAuthority(certificate, privateKey, context)
}

class LoadedAuthority implements Authority {
  readonly certificate: string
  readonly key: string
  readonly notBefore: number
  readonly notAfter: number
  readonly #privateKey: KeyObject
  readonly #name: Uint8Array
  readonly #keyIdentifier: Uint8Array | undefined
  readonly #clock: Clock
  readonly #random: Random

  constructor(certificate: string, privateKey: KeyObject, context: AuthorityContext) {
    const parsed = new X509Certificate(certificate)
    const identity = readIdentity(parsed.raw)
    this.certificate = certificate
    this.key = exportKey(privateKey)
    this.notBefore = parsed.validFromDate.getTime()
    this.notAfter = parsed.validToDate.getTime()
    this.#privateKey = privateKey
    this.#name = identity.subject
    this.#keyIdentifier = identity.keyIdentifier
    this.#clock = context.clock ?? systemClock
    this.#random = context.random ?? systemRandom
  }

  issue(request: CertificateRequest): CertificateWithKey {
    const now = this.#clock.now()
    const notAfter = Math.min(now + (request.validFor ?? 90 * DAY), this.notAfter)
    if (notAfter <= now) {
      throw new TenureError(
        'TENURE_CERTIFICATE_VALIDITY',
        this.notAfter <= now
          ? `The authority expired on ${new Date(this.notAfter).toISOString()}: create a new one before issuing.`
          : 'A certificate needs a positive lifetime: set validFor above 0.',
      )
    }
    const { privateKey, spki } = newKeyPair()
    const certificate = signCertificate(
      {
        serial: newSerial(this.#random),
        issuer: this.#name,
        subject: encodeName(request),
        notBefore: now - BACKDATE_MS,
        notAfter,
        publicKey: spki,
        extensions: leafExtensions({
          keyIdentifier: keyIdentifierOf(spki),
          authorityKeyIdentifier: this.#keyIdentifier,
          usage: typeof request.usage === 'string' ? [request.usage] : request.usage,
          dnsNames: request.dnsNames ?? [],
          ipAddresses: request.ipAddresses ?? [],
        }),
      },
      this.#privateKey,
    )
    return { certificate: toPem(certificate), key: exportKey(privateKey) }
  }
}

function newKeyPair(): { readonly privateKey: KeyObject; readonly spki: Uint8Array } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, spki: publicKey.export({ type: 'spki', format: 'der' }) }
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function newSerial(random: Random): Uint8Array {
  const serial = Uint8Array.from(random.bytes(SERIAL_LENGTH))
  // The top bit is the sign; setting the next one keeps the length fixed and the value nonzero.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  return serial
}

function unusable(why: string, cause?: unknown): TenureError {
  return new TenureError(
    'TENURE_CERTIFICATE_AUTHORITY',
    `The certificate authority cannot be used: ${why}. Provide a CA certificate and its private key, both as PEM.`,
    { cause },
  )
}
