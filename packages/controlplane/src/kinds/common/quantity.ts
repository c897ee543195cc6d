import { parseQuantity, QuantityError } from '@tenure/kube/model'

/** Returns a quantity in billionths, or 0 for an invalid one, which decoding has already rejected. */
export function nanosOf(quantity: unknown): bigint {
  try {
    return parseQuantity(String(quantity)).nanos
  } catch (error) {
    if (error instanceof QuantityError) return 0n
    throw error
  }
}

export const isWhole = (quantity: unknown): boolean => nanosOf(quantity) % 1_000_000_000n === 0n

export const isNegative = (quantity: unknown): boolean => nanosOf(quantity) < 0n

export const isZero = (quantity: unknown): boolean => nanosOf(quantity) === 0n

export function compareQuantityValues(a: unknown, b: unknown): number {
  const difference = nanosOf(a) - nanosOf(b)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
