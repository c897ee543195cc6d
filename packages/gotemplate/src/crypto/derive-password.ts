/** `derivePassword`: the Master Password algorithm. */
import { toBytes } from '../values/bytes.ts'
import { crypto } from '../system.ts'

const SEED = 'com.lyndir.masterpassword'

/** The shapes of passwords; each letter stands for a set of characters. */
const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['maximum', ['anoxxxxxxxxxxxxxxxxx', 'axxxxxxxxxxxxxxxxxno']],
  ['long', longTemplates()],
  ['medium', ['CvcnoCvc', 'CvcCvcno']],
  ['short', ['Cvcn']],
  ['basic', ['aaanaaan', 'aannaaan', 'aaannaaa']],
  ['pin', ['nnnn']],
])

/** Three syllables with a digit and a sign after one of them, in the order of the algorithm. */
function longTemplates(): readonly string[] {
  const shapes = ['vvv', 'cvv', 'vcv', 'vvc', 'ccv', 'vcc', 'cvc']
  return shapes.flatMap((shape) => {
    const syllables = Array.from(shape).map((last) => `Cvc${last}`)
    return [0, 1, 2].map((after) => syllables.map((text, index) => (index === after ? `${text}no` : text)).join(''))
  })
}

const CHARACTERS: Readonly<Record<string, string>> = {
  V: 'AEIOU',
  C: 'BCDFGHJKLMNPQRSTVWXYZ',
  v: 'aeiou',
  c: 'bcdfghjklmnpqrstvwxyz',
  A: 'AEIOUBCDFGHJKLMNPQRSTVWXYZ',
  a: 'AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz',
  n: '0123456789',
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: 'AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()',
}

export interface PasswordRequest {
  readonly counter: number
  readonly type: string
  readonly password: string
  readonly user: string
  readonly site: string
}

export function derivePassword({ counter, type, password, user, site }: PasswordRequest): string {
  const templates = TEMPLATES.get(type)
  if (!templates) return `cannot find password template ${type}`
  const salt = Buffer.concat([Buffer.from(SEED), withLength(toBytes(user))])
  const key = crypto().scryptSync(toBytes(password), salt, 64, { N: 32_768, r: 8, p: 2, maxmem: 128 * 1024 * 1024 })
  const message = Buffer.concat([Buffer.from(SEED), withLength(toBytes(site)), uint32(counter)])
  const seed = crypto().createHmac('sha256', key).update(message).digest()
  const template = templates[(seed[0] ?? 0) % templates.length] ?? ''
  return Array.from(template)
    .map((letter, index) => {
      const characters = CHARACTERS[letter] ?? ''
      return characters[(seed[index + 1] ?? 0) % characters.length] ?? ''
    })
    .join('')
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const withLength = (bytes: Buffer): Buffer => Buffer.concat([uint32(bytes.length), bytes])
