/** Private keys in PEM, in the forms that sprig writes and reads. */
import type { KeyObject } from 'node:crypto'

import { FunctionError } from '../values/go-function.ts'
import { crypto } from '../system.ts'
import { integer, pem, readDer, readPem, sequence } from './der.ts'

export function generateRsaKey(bits: 2048 | 4096): KeyObject {
  return crypto().generateKeyPairSync('rsa', { modulusLength: bits }).privateKey
}

/** `genPrivateKey`. */
export function generateKeyText(type: string): string {
  switch (type) {
    case '':
    case 'rsa':
      return keyText(generateRsaKey(4096))
    case 'ecdsa':
      return keyText(crypto().generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
    case 'ed25519':
      return keyText(crypto().generateKeyPairSync('ed25519').privateKey)
    case 'dsa':
      return keyText(crypto().generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).privateKey)
    default:
      return `Unknown type ${type}`
  }
}

export function keyText(key: KeyObject): string {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return key.export({ type: 'pkcs1', format: 'pem' }).toString()
    case 'ec':
      return key.export({ type: 'sec1', format: 'pem' }).toString()
    case 'dsa':
      return dsaText(key)
    default:
      return key.export({ type: 'pkcs8', format: 'pem' }).toString()
  }
}

/** Version, p, q, g, y, x: the form of OpenSSL, which Node does not write. */
function dsaText(key: KeyObject): string {
  const [content] = readDer(key.export({ type: 'pkcs8', format: 'der' }))
  const [, algorithm, secret] = readDer(content?.content ?? Buffer.alloc(0))
  const [, parameters] = readDer(algorithm?.content ?? Buffer.alloc(0))
  const [p, q, g] = readDer(parameters?.content ?? Buffer.alloc(0)).map(({ content: bytes }) => bytes)
  const [x] = readDer(secret?.content ?? Buffer.alloc(0)).map(({ content: bytes }) => bytes)
  const publicKey = crypto().createPublicKey(key).export({ type: 'spki', format: 'der' })
  const [outer] = readDer(publicKey)
  const [, bits] = readDer(outer?.content ?? Buffer.alloc(0))
  const [y] = readDer(bits?.content.subarray(1) ?? Buffer.alloc(0)).map(({ content: bytes }) => bytes)
  const numbers = [p, q, g, y, x].map((bytes) => integer(bytes ?? Buffer.of(0)))
  return pem('DSA PRIVATE KEY', sequence(integer(0n), ...numbers))
}

export function readKey(text: string): KeyObject {
  const block = readPem(text)
  if (!block) throw new FunctionError('no PEM data in input')
  const { type } = block
  if (type !== 'PRIVATE KEY' && !type.endsWith(' PRIVATE KEY')) {
    throw new FunctionError(`no private key data in PEM block of type ${type}`)
  }
  if (!['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'DSA PRIVATE KEY'].includes(type)) {
    throw new FunctionError(`invalid private key type ${type}`)
  }
  try {
    return crypto().createPrivateKey(pem(type, block.bytes))
  } catch (error) {
    const kind = type.replace(/ ?PRIVATE KEY$/, '')
    const action = kind === '' ? 'decoding PEM as PKCS#8' : `parsing ${kind} private key from PEM`
    throw new FunctionError(`${action}: ${(error as Error).message}`)
  }
}
