/** Certificates, as sprig makes them with Go's crypto/x509. */
import type { KeyObject } from 'node:crypto'

import { printValue } from '../format/printer.ts'
import { crypto } from '../system.ts'
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext } from '../values/go-function.ts'
import { GoStruct } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import {
  bitString,
  der,
  directoryString,
  integer,
  NULL,
  octets,
  oid,
  pem,
  readDer,
  readPem,
  sequence,
  set,
  time,
  TRUE,
} from './der.ts'
import { keyText, readKey } from './keys.ts'

const MILLISECONDS_PER_DAY = 86_400_000

export interface CertificateSpec {
  readonly commonName: string
  readonly ips: readonly GoValue[] | null
  readonly names: readonly GoValue[] | null
  readonly days: number
}

/** The struct that templates see: `.Cert` and `.Key`. */
export function certificateValue(cert: string, key: string): GoStruct {
  return new GoStruct('sprig.certificate', [
    { name: 'Cert', type: 'string', value: cert },
    { name: 'Key', type: 'string', value: key },
  ])
}

function fieldText(value: GoStruct, name: string): string {
  const text = value.fields.find((field) => field.name === name)?.value
  return typeof text === 'string' ? text : ''
}

/** A certificate that signs itself. */
export function selfSigned(
  request: CertificateSpec,
  key: KeyObject,
  isCa: boolean,
  context: FunctionContext,
): GoStruct {
  const subject = nameOf(request.commonName)
  const cert = createCertificate(
    { request, key, subject, issuer: subject, signer: key, isCa, issuerKeyId: undefined },
    context,
  )
  return certificateValue(cert, keyText(key))
}

/** A certificate that an authority signs. */
export function signed(
  request: CertificateSpec,
  key: KeyObject,
  authority: GoStruct,
  context: FunctionContext,
): GoStruct {
  const block = readPem(fieldText(authority, 'Cert'))
  if (!block) throw new FunctionError('unable to decode certificate')
  const { subject, keyId } = issuerOf(block.bytes)
  const signer = wrapped('error parsing private key', () => readKey(fieldText(authority, 'Key')))
  const cert = createCertificate(
    { request, key, subject: nameOf(request.commonName), issuer: subject, signer, isCa: false, issuerKeyId: keyId },
    context,
  )
  return certificateValue(cert, keyText(key))
}

/** Checks a certificate and a key that the template brings. */
export function customCertificate(cert: string, key: string): GoStruct {
  const block = readPem(cert)
  if (!block) throw new FunctionError('unable to decode certificate')
  wrapped('error parsing certificate: decodedCert.Bytes', () => issuerOf(block.bytes))
  wrapped('error parsing private key', () => readKey(key))
  return certificateValue(cert, key)
}

export function wrapped<T>(action: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new FunctionError(`${action}: ${(error as Error).message}`)
  }
}

function issuerOf(bytes: Buffer): { readonly subject: Buffer; readonly keyId: Buffer | undefined } {
  let certificate
  try {
    certificate = new (crypto().X509Certificate)(bytes)
  } catch {
    throw new FunctionError('x509: malformed certificate')
  }
  const [outer] = readDer(certificate.raw)
  const [body] = readDer(outer?.content ?? Buffer.alloc(0))
  const elements = readDer(body?.content ?? Buffer.alloc(0))
  const offset = elements[0]?.tag === 0xa0 ? 1 : 0
  const subject = elements[offset + 4]?.whole ?? Buffer.alloc(0)
  return { subject, keyId: subjectKeyId(elements.find(({ tag }) => tag === 0xa3)?.content) }
}

function subjectKeyId(extensions: Buffer | undefined): Buffer | undefined {
  const [list] = readDer(extensions ?? Buffer.alloc(0))
  const wanted = oid('2.5.29.14')
  for (const { content } of readDer(list?.content ?? Buffer.alloc(0))) {
    const [name, value] = readDer(content)
    if (name?.whole.equals(wanted)) return readDer(value?.content ?? Buffer.alloc(0))[0]?.content
  }
  return undefined
}

const nameOf = (commonName: string): Buffer =>
  commonName === '' ? sequence() : sequence(set(sequence(oid('2.5.4.3'), directoryString(commonName))))

interface CertificateParts {
  readonly request: CertificateSpec
  readonly key: KeyObject
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly signer: KeyObject
  readonly isCa: boolean
  readonly issuerKeyId: Buffer | undefined
}

function createCertificate(parts: CertificateParts, { environment }: FunctionContext): string {
  const { request, key, subject, issuer, signer } = parts
  const alternatives = alternativeNames(request)
  const publicKey = crypto().createPublicKey(key).export({ type: 'spki', format: 'der' })
  const serial = Buffer.from(environment.randomBytes(16))
  const now = environment.now()
  const algorithm = signatureAlgorithm(signer)
  const body = sequence(
    der(0xa0, integer(2n)),
    integer(serial),
    algorithm.identifier,
    issuer,
    sequence(time(now), time(now + request.days * MILLISECONDS_PER_DAY)),
    subject,
    publicKey,
    der(0xa3, sequence(...extensions(parts, publicKey, alternatives))),
  )
  const signature = crypto().sign(algorithm.hash, body, signer)
  return pem('CERTIFICATE', sequence(body, algorithm.identifier, bitString(signature)))
}

function signatureAlgorithm(key: KeyObject): { readonly hash: 'sha256' | null; readonly identifier: Buffer } {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return { hash: 'sha256', identifier: sequence(oid('1.2.840.113549.1.1.11'), NULL) }
    case 'ec':
      return { hash: 'sha256', identifier: sequence(oid('1.2.840.10045.4.3.2')) }
    case 'ed25519':
      return { hash: null, identifier: sequence(oid('1.3.101.112')) }
    default:
      throw new FunctionError(
        'error creating certificate: x509: certificate private key does not implement crypto.Signer',
      )
  }
}

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(oid(id), ...(isCritical ? [TRUE] : []), octets(value))

function extensions(
  { isCa, issuerKeyId }: CertificateParts,
  publicKey: Buffer,
  alternatives: Buffer | undefined,
): readonly Buffer[] {
  const [, bits] = readDer(readDer(publicKey)[0]?.content ?? Buffer.alloc(0))
  const ownKeyId = crypto()
    .createHash('sha256')
    .update(bits?.content.subarray(1) ?? Buffer.alloc(0))
    .digest()
    .subarray(0, 20)
  return [
    // Digital signature and key encipherment; an authority also signs certificates.
    extension('2.5.29.15', isCa ? bitString(Buffer.of(0xa4), 2) : bitString(Buffer.of(0xa0), 5), true),
    extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))),
    extension('2.5.29.19', isCa ? sequence(TRUE) : sequence(), true),
    ...(isCa ? [extension('2.5.29.14', octets(ownKeyId))] : []),
    ...(issuerKeyId ? [extension('2.5.29.35', sequence(der(0x80, issuerKeyId)))] : []),
    ...(alternatives ? [extension('2.5.29.17', alternatives)] : []),
  ]
}

function alternativeNames({ ips, names }: CertificateSpec): Buffer | undefined {
  const addresses = (ips ?? []).map((ip) => {
    if (typeof ip !== 'string') throw new FunctionError(`error parsing ip: ${printValue(ip)} is not a string`)
    const bytes = addressBytes(ip)
    if (!bytes) throw new FunctionError(`error parsing ip: ${ip}`)
    return der(0x87, bytes)
  })
  const hosts = (names ?? []).map((name) => {
    if (typeof name === 'string') return der(0x82, Buffer.from(name))
    throw new FunctionError(`error processing alternate dns name: ${printValue(name)} is not a string`)
  })
  return addresses.length + hosts.length === 0 ? undefined : sequence(...hosts, ...addresses)
}

const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))

function addressBytes(ip: string): Buffer | undefined {
  const net = process.getBuiltinModule('node:net')
  if (net.isIPv4(ip)) return Buffer.from(ip.split('.').map(Number))
  if (!net.isIPv6(ip) || ip.includes('%')) return undefined
  const dotted = ip.replace(/\d+\.\d+\.\d+\.\d+$/, (v4) => {
    const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
  const [head = '', tail] = dotted.split('::')
  const [front, back] = [groups(head), groups(tail ?? '')]
  const middle = tail === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => '0')
  const words = [...front, ...middle, ...back].map((group) => Number.parseInt(group, 16))
  const bytes = Buffer.alloc(16)
  for (const [index, word] of words.entries()) bytes.writeUInt16BE(word, index * 2)
  return bytes
}
