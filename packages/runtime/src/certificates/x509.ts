import type { KeyObject } from 'node:crypto'
import { createHash, sign } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import { TenureError } from '@tenure/kube'
import * as der from './der.ts'

export type Usage = 'server' | 'client'

export interface Subject {
  readonly commonName: string
  readonly organizations?: readonly string[] | undefined
}

export interface CertificateFields {
  readonly serial: Uint8Array
  /** DER of the issuer's Name. */
  readonly issuer: Uint8Array
  /** DER of the subject's Name. */
  readonly subject: Uint8Array
  readonly notBefore: number
  readonly notAfter: number
  /** DER of the SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  readonly extensions: readonly Uint8Array[]
}

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  sha256WithRsa: '1.2.840.113549.1.1.11',
} as const

const KEY_USAGE = { digitalSignature: 0, keyCertSign: 5, crlSign: 6 } as const

/** Creates and signs an X.509 v3 certificate, in DER. */
export function signCertificate(fields: CertificateFields, key: KeyObject): Uint8Array {
  const algorithm = signatureAlgorithm(key)
  const body = der.sequence(
    der.explicit(0, der.unsignedInteger(Uint8Array.of(2))), // v3
    der.unsignedInteger(fields.serial),
    algorithm,
    fields.issuer,
    der.sequence(der.time(fields.notBefore), der.time(fields.notAfter)),
    fields.subject,
    fields.publicKey,
    der.explicit(3, der.sequence(...fields.extensions)),
  )
  return der.sequence(body, algorithm, der.bitString(sign('sha256', body, key)))
}

/** An RDNSequence. Kubernetes takes a client certificate's CN as the user and each O as a group. */
export function encodeName(subject: Subject): Uint8Array {
  return der.sequence(
    ...(subject.organizations ?? []).map((name) => attribute(OID.organization, name)),
    attribute(OID.commonName, subject.commonName),
  )
}

/** RFC 7093: the first 160 bits of the key's SHA-256. FIPS builds reject the older SHA-1 method. */
export function keyIdentifierOf(publicKey: Uint8Array): Uint8Array {
  const [, bits] = der.readAll(der.readAll(publicKey)[0]?.content ?? new Uint8Array())
  if (!bits) throw new RangeError('no key in SubjectPublicKeyInfo')
  return createHash('sha256').update(bits.content.subarray(1)).digest().subarray(0, 20)
}

/** Extensions of a CA that may sign leaf certificates only. */
export function authorityExtensions(keyIdentifier: Uint8Array): readonly Uint8Array[] {
  return [
    extension(OID.basicConstraints, der.sequence(der.boolean(true), der.unsignedInteger(Uint8Array.of(0))), 'critical'),
    extension(OID.keyUsage, der.namedBits(KEY_USAGE.keyCertSign, KEY_USAGE.crlSign), 'critical'),
    extension(OID.subjectKeyIdentifier, der.octetString(keyIdentifier)),
    extension(OID.authorityKeyIdentifier, der.sequence(der.implicit(0, keyIdentifier))),
  ]
}

export interface AltNames {
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
}

export interface LeafFields extends AltNames {
  readonly keyIdentifier: Uint8Array
  readonly authorityKeyIdentifier: Uint8Array | undefined
  readonly usage: readonly Usage[]
}

export function leafExtensions(leaf: LeafFields): readonly Uint8Array[] {
  const purposes = leaf.usage.map((usage) => der.objectIdentifier(usage === 'server' ? OID.serverAuth : OID.clientAuth))
  const names = encodeAltNames(leaf)
  return [
    extension(OID.basicConstraints, der.sequence(), 'critical'),
    extension(OID.keyUsage, der.namedBits(KEY_USAGE.digitalSignature), 'critical'),
    extension(OID.extendedKeyUsage, der.sequence(...purposes)),
    extension(OID.subjectKeyIdentifier, der.octetString(leaf.keyIdentifier)),
    ...(leaf.authorityKeyIdentifier
      ? [extension(OID.authorityKeyIdentifier, der.sequence(der.implicit(0, leaf.authorityKeyIdentifier)))]
      : []),
    ...(names.length > 0 ? [extension(OID.subjectAltName, der.sequence(...names))] : []),
  ]
}

/** Subject and key identifier of an issuer, which the certificates it signs must repeat byte for byte. */
export function readIdentity(certificate: Uint8Array): {
  readonly subject: Uint8Array
  readonly keyIdentifier: Uint8Array | undefined
} {
  const [body] = inside(der.readAll(certificate)[0])
  const fields = inside(body)
  // v1 certificates have no version field and no extensions, so they cannot belong to a CA.
  const subject = fields[5]
  if (!subject || fields[0]?.tag !== 0xa0) throw new RangeError('not an X.509 v3 certificate')
  return {
    subject: subject.whole,
    keyIdentifier: inside(readExtension(certificate, OID.subjectKeyIdentifier))[0]?.content,
  }
}

/** True if the certificate (DER) covers all these names and addresses. */
export function holdsAltNames(certificate: Uint8Array, names: AltNames): boolean {
  const held = inside(inside(readExtension(certificate, OID.subjectAltName))[0])
  return encodeAltNames(names).every((name) => held.some((value) => Buffer.compare(value.whole, name) === 0))
}

export function toPem(certificate: Uint8Array): string {
  const lines =
    Buffer.from(certificate)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function encodeAltNames(names: AltNames): readonly Uint8Array[] {
  return [
    ...names.dnsNames.map((name) => der.implicit(2, Buffer.from(dnsName(name), 'latin1'))),
    ...names.ipAddresses.map((address) => der.implicit(7, ipOctets(address))),
  ]
}

/** The OCTET STRING that wraps an extension's value. */
function readExtension(certificate: Uint8Array, id: string): der.DerValue | undefined {
  const [body] = inside(der.readAll(certificate)[0])
  const list = inside(inside(body).find((field) => field.tag === 0xa3))[0]
  const wanted = der.objectIdentifier(id)
  for (const entry of inside(list)) {
    const parts = inside(entry)
    if (parts[0] && Buffer.compare(parts[0].whole, wanted) === 0) return parts.at(-1)
  }
  return undefined
}

function attribute(type: string, value: string): Uint8Array {
  return der.set(der.sequence(der.objectIdentifier(type), der.utf8String(value)))
}

function inside(value: der.DerValue | undefined): readonly der.DerValue[] {
  return der.readAll(value?.content ?? new Uint8Array())
}

function extension(id: string, value: Uint8Array, critical?: 'critical'): Uint8Array {
  return der.sequence(
    der.objectIdentifier(id),
    // DER omits default values, and false is the default.
    ...(critical ? [der.boolean(true)] : []),
    der.octetString(value),
  )
}

function signatureAlgorithm(key: KeyObject): Uint8Array {
  switch (key.asymmetricKeyType) {
    case 'ec':
      return der.sequence(der.objectIdentifier(OID.ecdsaWithSha256))
    case 'rsa':
      return der.sequence(der.objectIdentifier(OID.sha256WithRsa), der.nothing())
    default:
      throw new TenureError(
        'TENURE_CERTIFICATE_KEY_TYPE',
        `A key of type ${key.asymmetricKeyType ?? key.type} cannot sign certificates here: use an EC or RSA key.`,
      )
  }
}

const DNS_NAME = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/

function dnsName(name: string): string {
  const lower = name.toLowerCase()
  if (!DNS_NAME.test(lower) || lower.length > 253 || isIPv4(lower)) {
    throw new TenureError(
      'TENURE_CERTIFICATE_NAME',
      `"${name}" is not a valid DNS name for a certificate: use an ASCII host name, or put an IP address under ipAddresses.`,
    )
  }
  return lower
}

function ipOctets(address: string): Uint8Array {
  const version = address.includes('%') ? 0 : isIP(address)
  if (version === 4) return Uint8Array.from(address.split('.').map(Number))
  if (version === 0) {
    throw new TenureError(
      'TENURE_CERTIFICATE_NAME',
      `"${address}" is not a valid IP address for a certificate: use IPv4 or IPv6 without a zone.`,
    )
  }
  // The URL parser writes every IPv6 address in its shortest form, without dotted parts.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const before = hexGroups(head)
  const after = tail === undefined ? [] : hexGroups(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  const octets = [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff])
  // Go's verifier compares an IPv4-mapped IPv6 address as IPv4.
  const isMapped = octets.slice(0, 10).every((octet) => octet === 0) && octets[10] === 0xff && octets[11] === 0xff
  return Uint8Array.from(isMapped ? octets.slice(12) : octets)
}

function hexGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
