import type { Client } from '@tenure/kube'
import { defineKind } from '@tenure/kube'

const Lease = defineKind({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' })
/** Longer than any measurement. */
const DURATION_SECONDS = 3_600

/**
 * Holds the leader Lease of the claims operator, so that its replicas serve callers and none of them fills the pool. The
 * former leader must have ended.
 */
export async function holdLease(client: Client, namespace: string): Promise<void> {
  const now = new Date().toISOString().replace('Z', '000Z')
  const spec = {
    holderIdentity: 'bench',
    leaseDurationSeconds: DURATION_SECONDS,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: 1,
  }
  const lease = { metadata: { name: 'claim-controller-leader', namespace }, spec }
  await client.apply(Lease, lease, { force: true })
}
