/**
 * Counts the work of functions that walk through values. A small value may hold another one many times over, so that
 * its text is many times as large. Rendering is synchronous: one rendering counts at a time.
 */
let charge: (steps: number) => void = () => undefined

/** Counts steps of the current rendering; throws when the limit is exceeded. */
export const work = (steps: number): void => charge(steps)

/** Counts the work of `run` with `spend`. */
export function withWork<T>(spend: (steps: number) => void, run: () => T): T {
  const outer = charge
  charge = spend
  try {
    return run()
  } finally {
    charge = outer
  }
}
