import type { ObjectMeta } from '@tenure/kube'
import { rfc3339 } from '@tenure/runtime'
import { LEASE_CONTROLLER_GROUP } from '../../api/lease-controller.ts'

/** How the keeping of a kind's leases is going. */
export interface LeaseReport {
  readonly activeLeases: number
  /** Milliseconds since 1970; undefined if nothing is due. */
  readonly nextExpiry: number | undefined
  /** ConditionReason it can not be done now, for a person. */
  readonly problem: string | undefined
}

const ACTIVE = `${LEASE_CONTROLLER_GROUP}/active-leases`
const NEXT = `${LEASE_CONTROLLER_GROUP}/next-expiry`
const PROBLEM = `${LEASE_CONTROLLER_GROUP}/problem`

/**
 * A dedicated controller has rights on its kind and on Leases where it runs, and on nothing else: so it tells how it
 * is going in the annotations of a Lease, which the operator watches. Null takes an annotation away in a merge patch.
 */
export function reportAnnotations(report: LeaseReport): Readonly<Record<string, string | null>> {
  return {
    [ACTIVE]: String(report.activeLeases),
    [NEXT]: report.nextExpiry === undefined ? null : rfc3339(report.nextExpiry),
    [PROBLEM]: report.problem ?? null,
  }
}

/** Undefined: nothing has been reported yet. */
export function readReport(metadata: ObjectMeta | undefined): LeaseReport | undefined {
  const annotations = metadata?.annotations ?? {}
  const activeLeases = Number(annotations[ACTIVE] ?? Number.NaN)
  if (!Number.isSafeInteger(activeLeases) || activeLeases < 0) return undefined
  const next = Date.parse(annotations[NEXT] ?? '')
  return {
    activeLeases,
    nextExpiry: Number.isNaN(next) ? undefined : next,
    problem: annotations[PROBLEM],
  }
}
