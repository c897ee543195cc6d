/** Random values, drawn from the injected randomness. */
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { fn } from './define.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const PRINTABLE = Array.from({ length: 95 }, (_unused, index) => String.fromCharCode(32 + index)).join('')

/** An integer from 0 up to `limit`, which is not one of them; every one is equally likely. */
export function randomBelow(limit: number, context: FunctionContext): number {
  const range = 2 ** 48
  const fair = range - (range % limit)
  for (;;) {
    const bytes = context.environment.randomBytes(6)
    const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
    if (value < fair) return value % limit
  }
}

/** Characters after which the time limit is checked: each one takes longer than a step. */
const CHARACTERS_PER_CHECK = 256

function randomText(count: number, alphabet: string, context: FunctionContext): string {
  if (count <= 0) return ''
  context.allocate(count)
  let text = ''
  for (let index = 0; index < count; index++) {
    if (index % CHARACTERS_PER_CHECK === 0) context.spend(Math.min(CHARACTERS_PER_CHECK, count - index))
    text += alphabet[randomBelow(alphabet.length, context)] ?? ''
  }
  return text
}

function uuid(context: FunctionContext): string {
  const bytes = Buffer.from(context.environment.randomBytes(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function shuffle(text: string, context: FunctionContext): string {
  const characters = Array.from(text)
  context.spend(characters.length)
  for (let index = characters.length - 1; index > 0; index--) {
    const other = randomBelow(index + 1, context)
    const [a = '', b = ''] = [characters[index], characters[other]]
    characters[index] = b
    characters[other] = a
  }
  return characters.join('')
}

export const randomFunctions: readonly GoFunction[] = [
  fn('randAlphaNum', ['int'], ([count], context) => randomText(count, LETTERS + DIGITS, context)),
  fn('randAlpha', ['int'], ([count], context) => randomText(count, LETTERS, context)),
  fn('randAscii', ['int'], ([count], context) => randomText(count, PRINTABLE, context)),
  fn('randNumeric', ['int'], ([count], context) => randomText(count, DIGITS, context)),
  fn('randBytes', ['int'], ([count], context) => {
    context.allocate(count * 2)
    return Buffer.from(context.environment.randomBytes(count)).toString('base64')
  }),
  fn('shuffle', ['string'], ([text], context) => shuffle(text, context)),
  fn('uuidv4', [], (_args, context) => uuid(context)),
]
