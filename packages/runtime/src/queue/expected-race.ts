import { isConflict, isNotFound } from '@tenure/kube'

/** Consecutive failures of one key that are expected of a race. More mean that a retry does not heal them. */
const MAX_QUIET_FAILURES = 5

/**
 * Whether a failure is expected when several writers work on the same objects: one of them was faster, or an object is
 * already gone. `failures` counts the failures of the key in a row, this one included.
 */
export function isExpectedRace(error: unknown, failures: number): boolean {
  return (isConflict(error) || isNotFound(error)) && failures <= MAX_QUIET_FAILURES
}
