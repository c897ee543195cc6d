import type { ObjectMeta } from '@tenure/kube'
import { rfc3339 } from '@tenure/runtime'
import { LEASE_CONTROLLER_GROUP } from '../../api/lease-controller.ts'

/** State of a kind's lease controller. */
export interface LeaseReport {
  readonly activeLeases: number
  /** Milliseconds since 1970; undefined if no lease expires. */
  readonly nextExpiry: number | undefined
  /** Why leases cannot be managed now. */
  readonly problem: string | undefined
}

const ACTIVE = `${LEASE_CONTROLLER_GROUP}/active-leases`
const NEXT = `${LEASE_CONTROLLER_GROUP}/next-expiry`
const PROBLEM = `${LEASE_CONTROLLER_GROUP}/problem`

/**
 * Annotations for a merge patch; null removes one. A dedicated controller has rights on its kind and on Leases in its
 * namespace only, so it reports in the annotations of a Lease, which the operator watches.
 */
export function reportAnnotations(report: LeaseReport): Readonly<Record<string, string | null>> {
  return {
    [ACTIVE]: String(report.activeLeases),
    [NEXT]: report.nextExpiry === undefined ? null : rfc3339(report.nextExpiry),
    [PROBLEM]: report.problem ?? null,
  }
}

/** Undefined if nothing has been reported yet. */
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
