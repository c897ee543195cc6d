/** The functions of Go's text/template itself. */
import { printf } from '../format/printf.ts'
import { print, printValue } from '../format/printer.ts'
import { isPrintable } from '../format/quote.ts'
import { byteLength, codePoints, compareBytes, isInvalidByte, normalize, toBytes } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction } from '../values/go-function.ts'
import { isNil, isTrue, kindOf, typeOf, zeroOf } from '../values/types.ts'
import { GoComplex, GoInt, GoStruct, goInt, itemsOf, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { fn, variadic } from './define.ts'
import { queryEscape } from './urls.ts'

/** `call` does not know how the template spells its argument; the evaluator replaces this mark. */
export const CALLEE = '{callee}'

type BasicKind = 'bool' | 'int' | 'uint' | 'float' | 'complex' | 'string' | 'none'

function basicKind(value: GoValue): BasicKind {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'number':
      return 'float'
    case 'string':
      return 'string'
    default:
  }
  if (value instanceof GoInt) return value.kind.startsWith('u') ? 'uint' : 'int'
  return value instanceof GoComplex ? 'complex' : 'none'
}

const isMissing = (value: GoValue): value is null | undefined => value === null || value === undefined

/** Whether the value equals one of the others. */
function isEqual(first: GoValue, others: readonly GoValue[]): boolean {
  if (others.length === 0) throw new FunctionError('missing argument for comparison')
  return others.some((other) => isSame(first, other))
}

function isSame(a: GoValue, b: GoValue): boolean {
  const [kind, otherKind] = [basicKind(a), basicKind(b)]
  if (kind !== otherKind) {
    if (a instanceof GoInt && b instanceof GoInt) return a.value === b.value
    if (isMissing(a) || isMissing(b)) return false
    throw new FunctionError(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`)
  }
  if (a instanceof GoInt && b instanceof GoInt) return a.value === b.value
  if (a instanceof GoComplex && b instanceof GoComplex) return a.real === b.real && a.imaginary === b.imaginary
  if (kind !== 'none') return a === b
  return isSameObject(a, b)
}

function isSameObject(a: GoValue, b: GoValue): boolean {
  if (!isMissing(a) && !isMissing(b) && kindOf(a) !== kindOf(b)) {
    throw new FunctionError(`non-comparable types ${printf('%s', [a])}: ${typeOf(a)}, ${typeOf(b)}: ${printValue(b)}`)
  }
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b)
  if (!(b instanceof GoStruct)) throw new FunctionError(`non-comparable type ${printf('%s', [b])}: ${typeOf(b)}`)
  return a === b
}

function isLess(a: GoValue, b: GoValue): boolean {
  const [kind, otherKind] = [basicKind(a), basicKind(b)]
  if (kind === 'none' || otherKind === 'none') throw new FunctionError('invalid type for comparison')
  if (a instanceof GoInt && b instanceof GoInt) return a.value < b.value
  if (kind !== otherKind) {
    throw new FunctionError(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`)
  }
  if (typeof a === 'number' && typeof b === 'number') return a < b
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b) < 0
  throw new FunctionError('invalid type for comparison')
}

const isLessOrEqual = (a: GoValue, b: GoValue): boolean => isLess(a, b) || isEqual(a, [b])

function lengthOf(value: GoValue): GoValue {
  if (value === null) throw new FunctionError('len of nil pointer')
  // Go panics on the type of an absent value.
  if (value === undefined) {
    throw new FunctionError('reflect: call of reflect.Value.Type on zero Value')
  }
  if (typeof value === 'string') return goInt(byteLength(value))
  if (value instanceof Map) return goInt(value.size)
  const items = itemsOf(value)
  if (items) return goInt(items.length)
  throw new FunctionError(`len of type ${value instanceof GoStruct ? value.type : typeOf(value)}`)
}

function indexArgument(index: GoValue, length: number): number {
  if (isMissing(index)) throw new FunctionError('cannot index slice/array with nil')
  if (!(index instanceof GoInt)) throw new FunctionError(`cannot index slice/array with type ${typeOf(index)}`)
  const position = BigInt.asIntN(64, index.value)
  if (position < 0n || position > BigInt(length)) throw new FunctionError(`index out of range: ${position}`)
  return Number(position)
}

function indexed(item: GoValue, indexes: readonly GoValue[]): GoValue {
  if (isMissing(item)) throw new FunctionError('index of untyped nil')
  let value: GoValue = item
  for (const index of indexes) {
    if (isMissing(value)) throw new FunctionError('index of nil pointer')
    value = element(value, index)
  }
  return value
}

function element(item: Exclude<GoValue, null | undefined>, index: GoValue): GoValue {
  if (typeof item === 'string') {
    const bytes = toBytes(item)
    const position = indexArgument(index, bytes.length)
    const byte = bytes[position]
    if (byte === undefined) throw new FunctionError('reflect: string index out of range')
    return new GoInt('uint8', BigInt(byte))
  }
  const items = itemsOf(item)
  if (items) {
    const position = indexArgument(index, items.length)
    if (position === items.length) throw new FunctionError('reflect: slice index out of range')
    return items[position] ?? null
  }
  if (item instanceof Map) {
    if (isMissing(index)) throw new FunctionError('value is nil; should be of type string')
    if (typeof index !== 'string') throw new FunctionError(`value has type ${typeOf(index)}; should be string`)
    const value = item.get(index)
    if (value !== undefined) return value
    return item instanceof NamedMap ? zeroOf(item.elem) : null
  }
  throw new FunctionError(`can't index item of type ${item instanceof GoStruct ? item.type : typeOf(item)}`)
}

/** The text of the operands of `html`, `js` and `urlquery`. */
function operandText(values: readonly GoValue[]): string {
  const [first] = values
  if (values.length === 1 && typeof first === 'string') return first
  return print(values.map((value) => (isMissing(value) ? '<no value>' : value)))
}

const HTML: Readonly<Record<string, string>> = {
  '\0': '\uFFFD',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
}

// oxlint-disable-next-line no-control-regex
const htmlEscape = (text: string): string => text.replaceAll(/[\0"'&<>]/g, (character) => HTML[character] ?? character)

const JS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
}

function jsEscape(text: string): string {
  return codePoints(text)
    .map((point) => {
      if (isInvalidByte(point)) return '\\uFFFD'
      const character = String.fromCodePoint(point)
      const escape = JS[character]
      if (escape !== undefined) return escape
      if (point < 0x20) return `\\u00${point.toString(16).toUpperCase().padStart(2, '0')}`
      if (point < 0x80 || isPrintable(point)) return character
      return `\\u${point.toString(16).toUpperCase().padStart(4, '0')}`
    })
    .join('')
}

export const builtinFunctions: readonly GoFunction[] = [
  // The evaluator calls these two itself, because they do not evaluate all of their arguments.
  variadic('and', ['reflect.Value'], 'reflect.Value', ([first]) => first),
  variadic('or', ['reflect.Value'], 'reflect.Value', ([first]) => first),
  variadic('call', ['reflect.Value'], 'reflect.Value', ([target]) => {
    throw new FunctionError(isMissing(target) ? 'call of nil' : `non-function ${CALLEE} of type ${typeOf(target)}`)
  }),
  fn('not', ['reflect.Value'], ([value]) => !isTrue(value)),
  variadic('eq', ['reflect.Value'], 'reflect.Value', ([first], others) => isEqual(first, others)),
  fn('ne', ['reflect.Value', 'reflect.Value'], ([a, b]) => !isEqual(a, [b])),
  fn('lt', ['reflect.Value', 'reflect.Value'], ([a, b]) => isLess(a, b)),
  fn('le', ['reflect.Value', 'reflect.Value'], ([a, b]) => isLessOrEqual(a, b)),
  fn('gt', ['reflect.Value', 'reflect.Value'], ([a, b]) => !isLessOrEqual(a, b)),
  fn('ge', ['reflect.Value', 'reflect.Value'], ([a, b]) => !isLess(a, b)),
  fn('len', ['reflect.Value'], ([value]) => lengthOf(value)),
  variadic('index', ['reflect.Value'], 'reflect.Value', ([item], indexes) => indexed(item, indexes)),
  variadic('html', [], 'interface {}', (_args, values) => htmlEscape(operandText(values))),
  variadic('js', [], 'interface {}', (_args, values) => jsEscape(operandText(values))),
  variadic('urlquery', [], 'interface {}', (_args, values) => queryEscape(operandText(values))),
  variadic('printf', ['string'], 'interface {}', ([format], values, context) => {
    const text = printf(normalize(format), values, context.allocate)
    context.allocate(text.length)
    return text
  }),
]
