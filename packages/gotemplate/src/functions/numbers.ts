/** sprig's functions on numbers. */
import { printValue } from '../format/printer.ts'
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { GoList, goInt, goInt64 } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { toFloat64, toInt64 } from './conversions.ts'
import { add, decimalResult, divide, multiply, subtract } from './decimal.ts'
import { fn, variadic } from './define.ts'
import { randomBelow } from './random.ts'

const MAX_INT = 2n ** 63n - 1n
const MIN_INT = -(2n ** 63n)

/** As strconv.ParseInt with a base, without prefixes. */
export function parseInBase(text: string, base: 8 | 10): bigint | undefined {
  const digits = base === 8 ? /^[-+]?[0-7]+$/ : /^[-+]?\d+$/
  if (!digits.test(text)) return undefined
  const size = BigInt((base === 8 ? '0o' : '') + text.replace(/^[-+]/, ''))
  return text.startsWith('-') ? -size : size
}

function atoi(text: string): bigint {
  const value = parseInBase(text, 10) ?? 0n
  return value > MAX_INT ? MAX_INT : value < MIN_INT ? MIN_INT : value
}

function octal(value: GoValue): bigint {
  const parsed = parseInBase(printValue(value), 8) ?? 0n
  return parsed > MAX_INT || parsed < MIN_INT ? 0n : parsed
}

function nonZero(value: bigint): bigint {
  if (value === 0n) throw new FunctionError('runtime error: integer divide by zero')
  return value
}

/** The numbers from `start` up or down to `stop`, which is not one of them. */
function untilStep(start: number, stop: number, step: number, context: FunctionContext): number[] {
  const numbers: number[] = []
  if (stop < start ? step >= 0 : step <= 0) return numbers
  const count = Math.ceil((stop - start) / step)
  context.spend(count)
  for (let index = 0; index < count; index++) numbers.push(start + index * step)
  return numbers
}

const intList = (numbers: readonly number[]): GoList => new GoList('[]int', numbers.map(goInt))

function sequence(parameters: readonly number[], context: FunctionContext): string {
  const [first = 0, second = 0, third = 0] = parameters
  const join = (start: number, end: number, step: number): string => untilStep(start, end, step, context).join(' ')
  switch (parameters.length) {
    case 1: {
      const step = first < 1 ? -1 : 1
      return join(1, first + step, step)
    }
    case 2: {
      const step = second < first ? -1 : 1
      return join(first, second + step, step)
    }
    case 3:
      if (third < first && second > 0) return ''
      return join(first, third + (third < first ? -1 : 1), second)
    default:
      return ''
  }
}

function round(value: number, places: number, roundOn: number): number {
  const power = 10 ** places
  const scaled = power * value
  const fraction = scaled - Math.trunc(scaled)
  return (fraction >= roundOn ? Math.ceil(scaled) : Math.floor(scaled)) / power
}

const extreme = (name: string, isBetter: (a: bigint, b: bigint) => boolean): GoFunction =>
  variadic(name, ['interface {}'], 'interface {}', ([first], others) =>
    goInt64(others.map(toInt64).reduce((best, next) => (isBetter(next, best) ? next : best), toInt64(first))),
  )

const decimals = (name: string, operation: typeof add): GoFunction =>
  variadic(name, ['interface {}'], 'interface {}', ([first], others) =>
    decimalResult(toFloat64(first), others.map(toFloat64), operation),
  )

export const numberFunctions: readonly GoFunction[] = [
  fn('atoi', ['string'], ([text]) => goInt(atoi(text))),
  fn('int64', ['interface {}'], ([value]) => goInt64(toInt64(value))),
  fn('int', ['interface {}'], ([value]) => goInt(toInt64(value))),
  fn('float64', ['interface {}'], ([value]) => toFloat64(value)),
  fn('toDecimal', ['interface {}'], ([value]) => goInt64(octal(value))),
  variadic('seq', [], 'int', (_args, parameters, context) => sequence(parameters, context)),
  fn('until', ['int'], ([count], context) => intList(untilStep(0, count, count < 0 ? -1 : 1, context))),
  fn('untilStep', ['int', 'int', 'int'], ([start, stop, step], context) =>
    intList(untilStep(start, stop, step, context)),
  ),
  fn('add1', ['interface {}'], ([value]) => goInt64(toInt64(value) + 1n)),
  variadic('add', [], 'interface {}', (_args, values) =>
    goInt64(values.reduce<bigint>((sum, value) => sum + toInt64(value), 0n)),
  ),
  fn('sub', ['interface {}', 'interface {}'], ([a, b]) => goInt64(toInt64(a) - toInt64(b))),
  fn('div', ['interface {}', 'interface {}'], ([a, b]) => goInt64(toInt64(a) / nonZero(toInt64(b)))),
  fn('mod', ['interface {}', 'interface {}'], ([a, b]) => goInt64(toInt64(a) % nonZero(toInt64(b)))),
  variadic('mul', ['interface {}'], 'interface {}', ([first], others) =>
    goInt64(others.reduce<bigint>((product, value) => BigInt.asIntN(64, product * toInt64(value)), toInt64(first))),
  ),
  fn('randInt', ['int', 'int'], ([min, max], context) => {
    if (max - min <= 0) throw new FunctionError('invalid argument to Intn')
    return goInt(min + randomBelow(max - min, context))
  }),
  fn('add1f', ['interface {}'], ([value]) => decimalResult(toFloat64(value), [1], add)),
  variadic('addf', [], 'interface {}', (_args, values) => decimalResult(0, values.map(toFloat64), add)),
  decimals('subf', subtract),
  decimals('divf', divide),
  decimals('mulf', multiply),
  extreme('biggest', (a, b) => a > b),
  extreme('max', (a, b) => a > b),
  extreme('min', (a, b) => a < b),
  variadic('maxf', ['interface {}'], 'interface {}', ([first], others) =>
    Math.max(toFloat64(first), ...others.map(toFloat64)),
  ),
  variadic('minf', ['interface {}'], 'interface {}', ([first], others) =>
    Math.min(toFloat64(first), ...others.map(toFloat64)),
  ),
  fn('ceil', ['interface {}'], ([value]) => Math.ceil(toFloat64(value))),
  fn('floor', ['interface {}'], ([value]) => Math.floor(toFloat64(value))),
  variadic('round', ['interface {}', 'int'], 'float64', ([value, places], [roundOn = 0.5]) =>
    round(toFloat64(value), places, roundOn),
  ),
]
