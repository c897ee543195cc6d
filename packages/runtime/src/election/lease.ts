import type { KubeObject } from '@tenure/kube'
import { defineKind } from '@tenure/kube'
import { microTime } from '../time/micro-time.ts'

/** coordination.k8s.io/v1 LeaseSpec, as far as an election writes it. */
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
 * Now, as a MicroTime that is not `previous`. The wall clock may stand still or jump back to just where it was; a
 * renewal that wrote the same time again would be no write at all, and followers would take the leader for dead.
 */
export function renewTimeAfter(previous: string | undefined, now: number): string {
  const time = microTime(now)
  return time === previous ? microTime(now, 1) : time
}
