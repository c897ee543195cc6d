/** sprig's functions for passwords, keys and certificates. */
import bcrypt from 'bcryptjs'

import { byteLength, fromBytes, toBytes } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import type { GoStruct, GoValue } from '../values/values.ts'
import { fn } from '../functions/define.ts'
import { decodeBase64 } from '../functions/encodings.ts'
import { crypto } from '../system.ts'
import { customCertificate, selfSigned, signed, wrapped } from './certificates.ts'
import { generateKeyText, generateRsaKey, readKey } from './keys.ts'
import { derivePassword } from './derive-password.ts'

const BCRYPT_COST = 10
const MAX_BCRYPT_BYTES = 72
/** Steps that count for work that takes milliseconds. */
const EXPENSIVE = 20_000

function hashPassword(password: string, context: FunctionContext): string {
  if (byteLength(password) > MAX_BCRYPT_BYTES) {
    return 'failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes'
  }
  context.spend(EXPENSIVE)
  const salt = `$2a$${BCRYPT_COST}$${bcrypt.encodeBase64([...context.environment.randomBytes(16)], 16)}`
  return bcrypt.hashSync(password, salt)
}

function keyBytes(password: string): Buffer {
  const key = Buffer.alloc(32)
  toBytes(password).copy(key)
  return key
}

function encrypt(password: string, text: string, context: FunctionContext): string {
  if (text === '') return ''
  const iv = Buffer.from(context.environment.randomBytes(16))
  const cipher = crypto().createCipheriv('aes-256-cbc', keyBytes(password), iv)
  return Buffer.concat([iv, cipher.update(toBytes(text)), cipher.final()]).toString('base64')
}

function decrypt(password: string, encrypted: string): string {
  if (encrypted === '') return ''
  const decoded = decodeBase64(encrypted)
  if (!('bytes' in decoded)) throw new FunctionError(`illegal base64 data at input byte ${decoded.corruptAt}`)
  const { bytes } = decoded
  if (bytes.length < 16) {
    throw new FunctionError(`runtime error: slice bounds out of range [:16] with capacity ${bytes.length}`)
  }
  if (bytes.length % 16 !== 0) throw new FunctionError('crypto/cipher: input not full blocks')
  if (bytes.length === 16) throw new FunctionError('runtime error: index out of range [-1]')
  const decipher = crypto()
    .createDecipheriv('aes-256-cbc', keyBytes(password), bytes.subarray(0, 16))
    .setAutoPadding(false)
  const plain = Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()])
  const padding = plain.at(-1) ?? 0
  if (padding > plain.length) {
    throw new FunctionError(`runtime error: slice bounds out of range [:${plain.length - padding}]`)
  }
  return fromBytes(plain.subarray(0, plain.length - padding))
}

const LIST = '[]interface {}'

const requestOf = (
  commonName: string,
  ips: readonly GoValue[] | null,
  names: readonly GoValue[] | null,
  days: number,
) => ({ commonName, ips, names, days }) as const

const newKey = (context: FunctionContext): ReturnType<typeof generateRsaKey> => {
  context.spend(EXPENSIVE)
  return generateRsaKey(2048)
}

const givenKey = (text: string): ReturnType<typeof readKey> => wrapped('parsing private key', () => readKey(text))

export const cryptoFunctions: readonly GoFunction[] = [
  fn('bcrypt', ['string'], ([password], context) => hashPassword(password, context)),
  fn('htpasswd', ['string', 'string'], ([user, password], context) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${hashPassword(password, context)}`,
  ),
  fn('genPrivateKey', ['string'], ([type], context) => {
    context.spend(EXPENSIVE)
    return generateKeyText(type)
  }),
  fn(
    'derivePassword',
    ['uint32', 'string', 'string', 'string', 'string'],
    ([counter, type, password, user, site], context) => {
      context.spend(EXPENSIVE)
      return derivePassword({ counter, type, password, user, site })
    },
  ),
  fn('buildCustomCert', ['string', 'string'], ([cert, key]): GoStruct => {
    const decoded = [
      [cert, 'certificate'],
      [key, 'private key'],
    ].map(([text = '', name]) => {
      const result = decodeBase64(text)
      if (!('bytes' in result)) throw new FunctionError(`unable to decode base64 ${name}`)
      return fromBytes(result.bytes)
    })
    return customCertificate(decoded[0] ?? '', decoded[1] ?? '')
  }),
  fn('genCA', ['string', 'int'], ([name, days], context) =>
    selfSigned(requestOf(name, null, null, days), newKey(context), true, context),
  ),
  fn('genCAWithKey', ['string', 'int', 'string'], ([name, days, key], context) =>
    selfSigned(requestOf(name, null, null, days), givenKey(key), true, context),
  ),
  fn('genSelfSignedCert', ['string', LIST, LIST, 'int'], ([name, ips, names, days], context) =>
    selfSigned(requestOf(name, ips, names, days), newKey(context), false, context),
  ),
  fn('genSelfSignedCertWithKey', ['string', LIST, LIST, 'int', 'string'], ([name, ips, names, days, key], context) =>
    selfSigned(requestOf(name, ips, names, days), givenKey(key), false, context),
  ),
  fn('genSignedCert', ['string', LIST, LIST, 'int', 'sprig.certificate'], ([name, ips, names, days, ca], context) =>
    signed(requestOf(name, ips, names, days), newKey(context), ca, context),
  ),
  fn(
    'genSignedCertWithKey',
    ['string', LIST, LIST, 'int', 'sprig.certificate', 'string'],
    ([name, ips, names, days, ca, key], context) =>
      signed(requestOf(name, ips, names, days), givenKey(key), ca, context),
  ),
  fn('encryptAES', ['string', 'string'], ([password, text], context) => encrypt(password, text, context)),
  fn('decryptAES', ['string', 'string'], ([password, text]) => decrypt(password, text)),
]
