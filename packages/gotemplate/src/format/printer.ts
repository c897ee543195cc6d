/** Prints values as Go's package fmt does. */
import { goFloat } from '@tenure/yaml'

import { fromBytes, toBytes } from '../values/bytes.ts'
import { GoComplex, GoInt, GoList, GoStruct, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { sortedKeys } from '../values/sorted-keys.ts'
import { typeOf } from '../values/types.ts'
import { work } from '../values/work.ts'
import { intText } from '../values/named-ints.ts'
import { FormatFlags, pad, truncate } from './flags.ts'
import { formatInteger, formatNumber, hexAddress } from './numbers.ts'
import { canBackquote, quote } from './quote.ts'

/** Pointers have no stable address; Go prints one that differs from run to run. */
const ADDRESS = 0xc0_0000_0000n

/** A value with `%v`. */
export function printValue(value: GoValue): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return goFloat(value)
    case 'boolean':
      return value ? 'true' : 'false'
    default:
      return printArgument(value, 'v', new FormatFlags())
  }
}

/** As `fmt.Sprint`: a space between operands when neither is a string. */
export function print(values: readonly GoValue[]): string {
  let text = ''
  let wasString = false
  for (const [index, value] of values.entries()) {
    const isString = typeof value === 'string'
    if (index > 0 && !isString && !wasString) text += ' '
    text += printValue(value)
    wasString = isString
  }
  return text
}

/** One operand of a format string. */
export function printArgument(value: GoValue, verb: string, flags: FormatFlags): string {
  if (value === null || value === undefined) {
    return verb === 'T' || verb === 'v' ? pad(flags, '<nil>') : badVerb(verb, value, flags)
  }
  if (verb === 'T') return pad(flags, truncate(flags, typeOf(value)))
  if (verb === 'p') return pointer(value, verb, flags)
  return printNested(value, verb, flags, 0)
}

function printNested(value: GoValue, verb: string, flags: FormatFlags, depth: number): string {
  work(typeof value === 'string' ? 1 + (value.length >>> 6) : 1)
  if (verb === 'w') return badVerb(verb, value, flags)
  switch (typeof value) {
    case 'string':
      return printString(value, verb, flags) ?? badVerb(verb, value, flags)
    case 'number':
      return formatNumber(value, verb, flags) ?? badVerb(verb, value, flags)
    case 'boolean':
      return verb === 't' || verb === 'v' ? pad(flags, String(value)) : badVerb(verb, value, flags)
    default:
  }
  if (value === null || value === undefined) return flags.sharpV ? 'interface {}(nil)' : '<nil>'
  const text = flags.sharpV ? undefined : textOf(value)
  if (text !== undefined && 'vsxXq'.includes(verb)) return printString(text, verb, flags) ?? ''
  if (value instanceof GoInt) {
    return formatInteger(value.value, !value.kind.startsWith('u'), verb, flags) ?? badVerb(verb, value, flags)
  }
  if (value instanceof GoComplex) return complex(value, verb, flags)
  if (value instanceof Map) return map(value, verb, flags, depth)
  if (value instanceof GoStruct) {
    if (!value.isPointer) return struct(value, verb, flags, depth)
    return depth === 0 ? `&${struct(value, verb, flags, depth + 1)}` : pointer(value, verb, flags)
  }
  if (Array.isArray(value)) return list('[]interface {}', value as readonly GoValue[], verb, flags, depth)
  if (value instanceof GoList) {
    if (value.type === '[]uint8' && 'sqxX'.includes(verb)) {
      const bytes = fromBytes(Buffer.from(value.items.map((item) => (item instanceof GoInt ? Number(item.value) : 0))))
      return printString(bytes, verb, flags) ?? ''
    }
    if (flags.sharpV && value.isNil) return `${value.type}(nil)`
    return list(value.type, value.items, verb, flags, depth)
  }
  return pointer(value, verb, flags)
}

/** The result of `String()`; undefined for types without it. */
export function textOf(value: GoValue): string | undefined {
  if (value instanceof GoStruct) {
    return value.options.isTextOfPointer === true && !value.isPointer ? undefined : value.options.text?.()
  }
  return value instanceof GoInt && value.named !== undefined ? intText(value) : undefined
}

function printString(text: string, verb: string, flags: FormatFlags): string | undefined {
  switch (verb) {
    case 'v':
      return flags.sharpV ? quoted(text, flags) : pad(flags, truncate(flags, text))
    case 's':
      return pad(flags, truncate(flags, text))
    case 'q':
      return quoted(text, flags)
    case 'x':
    case 'X':
      return hex(text, verb, flags)
    default:
      return undefined
  }
}

function quoted(text: string, flags: FormatFlags): string {
  const cut = truncate(flags, text)
  return pad(flags, flags.sharp && canBackquote(cut) ? `\`${cut}\`` : quote(cut, flags.plus))
}

function hex(text: string, verb: 'x' | 'X', flags: FormatFlags): string {
  const bytes = toBytes(text)
  const digits = [...bytes.subarray(0, flags.precision ?? bytes.length)].map((byte) => {
    const pair = byte.toString(16).padStart(2, '0')
    return verb === 'X' ? pair.toUpperCase() : pair
  })
  if (digits.length === 0) return pad(flags, '')
  const prefix = flags.sharp ? `0${verb}` : ''
  return pad(flags, flags.space ? digits.map((pair) => prefix + pair).join(' ') : prefix + digits.join(''))
}

function complex(value: GoComplex, verb: string, flags: FormatFlags): string {
  const real = formatNumber(value.real, verb, flags)
  if (real === undefined) return badVerb(verb, value, flags)
  const { plus } = flags
  flags.plus = true
  const imaginary = formatNumber(value.imaginary, verb, flags) ?? ''
  flags.plus = plus
  return `(${real}${imaginary}i)`
}

function map(value: ReadonlyMap<string, GoValue>, verb: string, flags: FormatFlags, depth: number): string {
  const type = value instanceof NamedMap ? value.type : 'map[string]interface {}'
  if (flags.sharpV && value instanceof NamedMap && value.isNil) return `${type}(nil)`
  const entries = sortedKeys(value).map(
    (key) => `${printNested(key, verb, flags, depth + 1)}:${printNested(value.get(key), verb, flags, depth + 1)}`,
  )
  return flags.sharpV ? `${type}{${entries.join(', ')}}` : `map[${entries.join(' ')}]`
}

function struct(value: GoStruct, verb: string, flags: FormatFlags, depth: number): string {
  const fields = value.fields.map(({ name, value: field }) => {
    const text = printNested(field, verb, flags, depth + 1)
    return flags.plusV || flags.sharpV ? `${name}:${text}` : text
  })
  return flags.sharpV ? `${value.type}{${fields.join(', ')}}` : `{${fields.join(' ')}}`
}

function list(type: string, items: readonly GoValue[], verb: string, flags: FormatFlags, depth: number): string {
  const printed = items.map((item) => printNested(item, verb, flags, depth + 1))
  return flags.sharpV ? `${type}{${printed.join(', ')}}` : `[${printed.join(' ')}]`
}

function pointer(value: GoValue, verb: string, flags: FormatFlags): string {
  const hasAddress =
    value instanceof Map || Array.isArray(value) || value instanceof GoList || typeof value === 'object'
  if (!hasAddress || (value instanceof GoStruct && !value.isPointer) || value instanceof GoInt) {
    return badVerb(verb, value, flags)
  }
  if (verb === 'v' || verb === 'p') return hexAddress(ADDRESS, flags, !flags.sharp)
  return formatInteger(ADDRESS, false, verb, flags) ?? badVerb(verb, value, flags)
}

function badVerb(verb: string, value: GoValue, flags: FormatFlags): string {
  if (value === null || value === undefined) return `%!${verb}(<nil>)`
  return `%!${verb}(${typeOf(value)}=${printWithoutMethods(value, flags)})`
}

function printWithoutMethods(value: GoValue, flags: FormatFlags): string {
  if (value instanceof GoInt && value.named !== undefined) {
    return printNested(new GoInt(value.kind, value.value), 'v', flags, 0)
  }
  if (value instanceof GoStruct && value.options.text) {
    const { text: _text, ...options } = value.options
    return printNested(new GoStruct(value.type, value.fields, options), 'v', flags, 0)
  }
  return printNested(value, 'v', flags, 0)
}
