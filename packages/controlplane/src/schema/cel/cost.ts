/**
 * Cost limits of CEL rules, as in Kubernetes: one unit is about one evaluation step or ten characters. Evaluation is
 * synchronous, so only one meter runs at a time.
 */

/** The limit of one rule, in cost units. */
export const MAX_RULE_COST = 1_000_000
/** The limit of all rules of one object, in cost units. */
export const MAX_OBJECT_COST = 10_000_000

export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

let left = 0

/** Runs `action` with a cost limit. `spent` is above `limit` if the limit was exceeded. */
export function metered<T>(limit: number, action: () => T): { readonly spent: number; readonly result: T | Error } {
  left = limit
  try {
    const result = action()
    // Quantifiers and logical operators continue after errors, so the limit is checked here.
    return { spent: limit - left, result: left < 0 ? new CostExceeded() : result }
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error))
    return { spent: limit - left, result: left < 0 ? new CostExceeded() : failure }
  }
}

export function charge(units: number): void {
  left -= units
  if (left < 0) throw new CostExceeded()
}

/** Charges one pass over a text or list. */
export function chargeSize(size: number): void {
  charge(1 + Math.ceil(size / 10))
}
