/** sprig's functions on strings. */
import { print, printValue } from '../format/printer.ts'
import { quote } from '../format/quote.ts'
import { byteLength, byteSlice, fromBytes, isAscii, normalize, toBytes } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { toLower, toUpper, trimSpace } from '../values/letters.ts'
import { NamedMap, stringList } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { fn, variadic } from './define.ts'
import { stringsOf, stringValue } from './conversions.ts'

function repeat(count: number, text: string, context: FunctionContext): string {
  if (count < 0) throw new FunctionError('strings: negative Repeat count')
  context.allocate(text.length * count)
  return text.repeat(count)
}

function indent(spaces: number, text: string, context: FunctionContext): string {
  const padding = repeat(spaces, ' ', context)
  const lines = text.split('\n')
  context.allocate(text.length + spaces * lines.length)
  return padding + lines.join(`\n${padding}`)
}

/** Bytes from `start` to `end`; Go panics outside of the string. */
function sliceBytes(text: string, start: number, end: number): string {
  const length = byteLength(text)
  if (end < 0 || end > length) throw outOfBounds(start === 0 ? `:${end}` : `:${end}`, length)
  if (start < 0 || start > end) throw outOfRange(start, end)
  return byteSlice(text, start, end)
}

const outOfBounds = (shown: string, length: number): FunctionError =>
  new FunctionError(
    `runtime error: slice bounds out of range [${shown}]${shown.includes('-') ? '' : ` with length ${length}`}`,
  )
const outOfRange = (start: number, end: number): FunctionError =>
  new FunctionError(`runtime error: slice bounds out of range [${start}:${start < 0 ? '' : end}]`)

function substring(start: number, end: number, text: string): string {
  if (start < 0) return sliceBytes(text, 0, end)
  const length = byteLength(text)
  return sliceBytes(text, start, end < 0 || end > length ? length : end)
}

function truncate(count: number, text: string): string {
  const length = byteLength(text)
  if (count < 0 && length + count > 0) return byteSlice(text, length + count)
  return count >= 0 && length > count ? byteSlice(text, 0, count) : text
}

function abbreviate(text: string, offset: number, width: number): string {
  if (text === '' || width < 4) return ''
  const length = byteLength(text)
  if (length <= width) return text
  let start = Math.min(offset, length)
  if (length - start < width - 3) start = length - (width - 3)
  if (start <= 4) return `${byteSlice(text, 0, width - 3)}...`
  if (width < 7) return ''
  if (start + width - 3 < length) return `...${abbreviate(byteSlice(text, start), 0, width - 3)}`
  return `...${byteSlice(text, length - (width - 3))}`
}

/** All characters of `cutset` at both ends. */
function trimAll(cutset: string, text: string): string {
  const set = new Set(cutset)
  const characters = Array.from(normalize(text))
  let start = 0
  let end = characters.length
  while (start < end && set.has(characters[start] ?? '')) start++
  while (end > start && set.has(characters[end - 1] ?? '')) end--
  return characters.slice(start, end).join('')
}

/** As strings.Split: an empty separator splits after each character. */
export function split(text: string, separator: string): string[] {
  return separator === '' ? Array.from(normalize(text)) : text.split(separator)
}

function splitLimited(text: string, separator: string, limit: number): string[] {
  if (limit === 0) return []
  const parts = split(text, separator)
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

const numbered = (parts: readonly string[]): GoValue =>
  new NamedMap(
    'map[string]string',
    'string',
    parts.map((part, index): [string, GoValue] => [`_${index}`, part]),
  )

function replaceAll(text: string, old: string, replacement: string, context: FunctionContext): string {
  if (old === '') {
    const characters = Array.from(normalize(text))
    context.allocate(text.length + (characters.length + 1) * replacement.length)
    return replacement + characters.map((character) => character + replacement).join('')
  }
  const parts = text.split(old)
  context.allocate(text.length + parts.length * replacement.length)
  return parts.join(replacement)
}

/** Wraps at a number of bytes. */
function wrap(text: string, width: number, separator: string, isLongWordWrapped: boolean): string {
  if (text === '') return ''
  const bytes = toBytes(text)
  const line = Math.max(width, 1)
  const newline = separator === '' ? '\n' : separator
  const cut = (start: number, end: number): string => fromBytes(bytes.subarray(start, end))
  let wrapped = ''
  let offset = 0
  while (bytes.length - offset > line) {
    if (bytes[offset] === 32) {
      offset++
      continue
    }
    const space = bytes.subarray(offset, offset + line + 1).lastIndexOf(32)
    if (space >= 0) {
      wrapped += cut(offset, offset + space) + newline
      offset += space + 1
    } else if (isLongWordWrapped) {
      wrapped += cut(offset, offset + line) + newline
      offset += line
    } else {
      const next = bytes.indexOf(32, offset + line)
      if (next < 0) {
        wrapped += cut(offset, bytes.length)
        offset = bytes.length
      } else {
        wrapped += cut(offset, next) + newline
        offset = next + 1
      }
    }
  }
  return normalize(wrapped + cut(offset, bytes.length))
}

/** goutils reads bytes as if they were characters. */
function bytewise(text: string, keep: (character: string, previous: boolean) => boolean): string {
  let out = ''
  let wasSpace = true
  for (const byte of toBytes(text)) {
    const isGap = [9, 10, 11, 12, 13, 32, 0x85, 0xa0].includes(byte)
    const character = String.fromCharCode(byte)
    if (keep(isGap ? ' ' : character, wasSpace)) out += character
    wasSpace = isGap
  }
  return out
}

function withoutSpace(text: string): string {
  const kept = bytewise(text, (character) => character !== ' ')
  return isAscii(text) ? kept : kept.length === byteLength(text) ? text : kept
}

function quoteAll(values: readonly GoValue[]): string {
  const shown: string[] = []
  for (const value of values) {
    if (value !== null && value !== undefined) shown.push(quote(stringValue(value)))
  }
  return shown.join(' ')
}

export const stringFunctions: readonly GoFunction[] = [
  fn('hello', [], () => 'Hello!'),
  fn('abbrev', ['int', 'string'], ([width, text]) => (width < 4 ? text : abbreviate(text, 0, width))),
  fn('abbrevboth', ['int', 'int', 'string'], ([left, right, text]) =>
    right < 4 || (left > 0 && right < 7) ? text : abbreviate(text, left, right),
  ),
  fn('trunc', ['int', 'string'], ([count, text]) => truncate(count, text)),
  fn('trim', ['string'], ([text]) => trimSpace(text)),
  fn('upper', ['string'], ([text]) => toUpper(normalize(text))),
  fn('lower', ['string'], ([text]) => toLower(normalize(text))),
  fn('substr', ['int', 'int', 'string'], ([start, end, text]) => substring(start, end, text)),
  fn('repeat', ['int', 'string'], ([count, text], context) => repeat(count, text, context)),
  fn('trimall', ['string', 'string'], ([set, text]) => trimAll(set, text)),
  fn('trimAll', ['string', 'string'], ([set, text]) => trimAll(set, text)),
  fn('trimSuffix', ['string', 'string'], ([end, text]) =>
    end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text,
  ),
  fn('trimPrefix', ['string', 'string'], ([start, text]) => (text.startsWith(start) ? text.slice(start.length) : text)),
  fn('nospace', ['string'], ([text]) => withoutSpace(text)),
  fn('initials', ['string'], ([text]) => bytewise(text, (character, isFirst) => character !== ' ' && isFirst)),
  fn('wrap', ['int', 'string'], ([width, text]) => wrap(text, width, '', false)),
  fn('wrapWith', ['int', 'string', 'string'], ([width, separator, text], context) => {
    context.allocate(text.length + (text.length / Math.max(width, 1)) * separator.length)
    return wrap(text, width, separator, true)
  }),
  fn('contains', ['string', 'string'], ([part, text]) => normalize(text).includes(part)),
  fn('hasPrefix', ['string', 'string'], ([start, text]) => text.startsWith(start)),
  fn('hasSuffix', ['string', 'string'], ([end, text]) => text.endsWith(end)),
  variadic('quote', [], 'interface {}', (_args, values) => quoteAll(values)),
  variadic('squote', [], 'interface {}', (_args, values) =>
    values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => `'${printValue(value)}'`)
      .join(' '),
  ),
  variadic('cat', [], 'interface {}', (_args, values) =>
    values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => printValue(value))
      .join(' '),
  ),
  fn('indent', ['int', 'string'], ([spaces, text], context) => indent(spaces, text, context)),
  fn('nindent', ['int', 'string'], ([spaces, text], context) => `\n${indent(spaces, text, context)}`),
  fn('replace', ['string', 'string', 'string'], ([old, replacement, text], context) =>
    replaceAll(text, old, replacement, context),
  ),
  fn('plural', ['string', 'string', 'int'], ([one, many, count]) => (count === 1 ? one : many)),
  fn('toString', ['interface {}'], ([value]) => stringValue(value)),
  fn('split', ['string', 'string'], ([separator, text]) => numbered(split(text, separator))),
  fn('splitList', ['string', 'string'], ([separator, text]) => stringList(split(text, separator))),
  fn('splitn', ['string', 'int', 'string'], ([separator, limit, text]) =>
    numbered(splitLimited(text, separator, limit)),
  ),
  fn('toStrings', ['interface {}'], ([value]) => stringList(stringsOf(value))),
  fn('join', ['string', 'interface {}'], ([separator, value], context) => {
    const parts = stringsOf(value)
    context.allocate(parts.reduce((sum, part) => sum + part.length + separator.length, 0))
    return parts.join(separator)
  }),
  variadic('print', [], 'interface {}', (_args, values) => print(values)),
  variadic('println', [], 'interface {}', (_args, values) => `${values.map((value) => printValue(value)).join(' ')}\n`),
]
