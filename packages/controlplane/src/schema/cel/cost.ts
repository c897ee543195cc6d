/**
 * What rules may cost. One unit is about one step of evaluation or ten characters looked at, as in Kubernetes; the
 * limits are its own too. Evaluation is synchronous, so one meter runs at a time.
 */

/** Of one rule. */
export const RULE_LIMIT = 1_000_000
/** Of all rules for one object. */
export const OBJECT_LIMIT = 10_000_000

export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

let left = 0

/** Runs `action` with at most `limit` to spend; what it spent is in the answer, above `limit` if that was not enough. */
export function metered<T>(limit: number, action: () => T): { readonly spent: number; readonly result: T | Error } {
  left = limit
  try {
    const result = action()
    // Quantifiers and logical operators go on after errors: being broke is decided here.
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

/** For looking at a text or list once. */
export function chargeSize(size: number): void {
  charge(1 + Math.ceil(size / 10))
}
