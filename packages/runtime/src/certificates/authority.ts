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

/** Clocks differ: a certificate is valid from this many milliseconds before it is made. */
export const BACKDATING = 5 * 60_000

/** A serial is this many random octets: unique without anyone keeping count, and within RFC 5280's 20. */
const SERIAL_LENGTH = 16

export interface AuthorityContext {
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined
  /** For serials; keys always come from the machine's own randomness. Default: the machine's. */
  readonly random?: Random | undefined
}

export interface AuthorityOptions extends Subject, AuthorityContext {
  /** Milliseconds. Default ten years. */
  readonly validFor?: number | undefined
}

export interface CertificateRequest extends Subject {
  /** For a client certificate Kubernetes takes `commonName` as the user and each of `organizations` as a group. */
  readonly usage: Usage | readonly Usage[]
  /** Host names, also `*.example.dev`. Default none. */
  readonly dnsNames?: readonly string[] | undefined
  /** IPv4 and IPv6. Default none. */
  readonly ipAddresses?: readonly string[] | undefined
  /** Milliseconds, never past the authority's own end. Default 90 days. */
  readonly validFor?: number | undefined
}

/** A certificate and its private key (PKCS#8), both PEM. */
export interface CertificateWithKey {
  readonly certificate: string
  readonly key: string
}

/** Someone whose signature others trust: holds a CA certificate with its key, and issues certificates. */
export interface Authority extends CertificateWithKey {
  /** Milliseconds since 1970. */
  readonly notBefore: number
  /** Milliseconds since 1970. */
  readonly notAfter: number
  issue(request: CertificateRequest): CertificateWithKey
}

/** A new self-signed CA (ECDSA P-256). It signs leaf certificates only, no further authorities. */
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
      notBefore: now - BACKDATING,
      notAfter: now + validFor,
      publicKey: spki,
      extensions: authorityExtensions(keyIdentifierOf(spki)),
    },
    privateKey,
  )
  return new LoadedAuthority(toPem(certificate), privateKey, { clock, random })
}

/** An authority from its PEM parts: one that was made here before, or anyone's with an EC or RSA key. */
export function loadAuthority(certificate: string, key: string, context: AuthorityContext = {}): Authority {
  let privateKey: KeyObject
  let parsed: X509Certificate
  try {
    parsed = new X509Certificate(certificate)
    privateKey = createPrivateKey(key)
  } catch (cause) {
    throw unusable('its PEM can not be read', cause)
  }
  if (!parsed.ca) throw unusable('it is not a CA certificate (basicConstraints)')
  if (!parsed.checkPrivateKey(privateKey)) throw unusable('the private key is not the one of the certificate')
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
          ? `The authority expired on ${new Date(this.notAfter).toISOString()}: make a new one before issuing.`
          : 'A certificate must be valid for some time: give a positive validFor.',
      )
    }
    const { privateKey, spki } = newKeyPair()
    const certificate = signCertificate(
      {
        serial: newSerial(this.#random),
        issuer: this.#name,
        subject: encodeName(request),
        notBefore: now - BACKDATING,
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
  // The top bit would be a sign; the next one set keeps the length, and the value from zero.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  return serial
}

function unusable(why: string, cause?: unknown): TenureError {
  return new TenureError(
    'TENURE_CERTIFICATE_AUTHORITY',
    `The certificate authority can not be used: ${why}. Give a CA certificate and its private key, both as PEM.`,
    { cause },
  )
}
