/** Decimal arithmetic for the functions on floats: 0.1 + 0.2 is 0.3. */
import { FunctionError } from '../values/go-function.ts'

/** coefficient × 10^exponent */
interface Decimal {
  readonly coefficient: bigint
  readonly exponent: number
}

/** Quotients are rounded to this many decimal places. */
const QUOTIENT_PLACES = 16

export type DecimalOperation = (a: Decimal, b: Decimal) => Decimal

/** Applies the operation from left to right. */
export function decimalResult(first: number, others: readonly number[], operation: DecimalOperation): number {
  const { coefficient, exponent } = others.reduce((sum, next) => operation(sum, fromFloat(next)), fromFloat(first))
  return Number(`${coefficient}e${exponent}`)
}

function fromFloat(value: number): Decimal {
  if (!Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
    throw new FunctionError(`Cannot create a Decimal from ${shown}`)
  }
  const [digits = '0', power = '0'] = value.toExponential().split('e')
  const [whole = '0', fraction = ''] = digits.split('.')
  return { coefficient: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

function aligned(a: Decimal, b: Decimal): readonly [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent)
  const scale = (value: Decimal): bigint => value.coefficient * 10n ** BigInt(value.exponent - exponent)
  return [scale(a), scale(b), exponent]
}

export const add: DecimalOperation = (a, b) => {
  const [left, right, exponent] = aligned(a, b)
  return { coefficient: left + right, exponent }
}

export const subtract: DecimalOperation = (a, b) => {
  const [left, right, exponent] = aligned(a, b)
  return { coefficient: left - right, exponent }
}

export const multiply: DecimalOperation = (a, b) => ({
  coefficient: a.coefficient * b.coefficient,
  exponent: a.exponent + b.exponent,
})

export const divide: DecimalOperation = (a, b) => {
  if (b.coefficient === 0n) throw new FunctionError('decimal division by 0')
  const [left, right] = aligned(a, b)
  const scaled = left * 10n ** BigInt(QUOTIENT_PLACES)
  const quotient = scaled / right
  const rest = scaled % right
  const isUp = abs(rest) * 2n >= abs(right)
  const away = scaled < 0n === right < 0n ? 1n : -1n
  return { coefficient: isUp ? quotient + away : quotient, exponent: -QUOTIENT_PLACES }
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value)
