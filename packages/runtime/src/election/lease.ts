import type { KubeObject } from '@tenure/kube'
import { defineKind } from '@tenure/kube'
import { microTime } from '../time/micro-time.ts'

/** The fields of a coordination.k8s.io/v1 LeaseSpec that the election writes. */
export interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  /** MicroTime. */
  readonly acquireTime?: string
  /** MicroTime. */
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

export interface ElectionLease extends KubeObject {
  readonly spec?: LeaseSpec
}

export const electionLease = defineKind<ElectionLease>({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' })

/**
 * The current time as a MicroTime that differs from `previous`. The wall clock may stand still or jump back to exactly
 * the same value; a renewal with the same time would be a no-op, and followers would consider the leader dead.
 */
export function renewTimeAfter(previous: string | undefined, now: number): string {
  const time = microTime(now)
  return time === previous ? microTime(now, 1) : time
}
