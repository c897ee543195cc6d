import { LEADER_LEASE as APPLICATIONS_LEASE } from '@tenure/applications/rows'
import { LEADER_LEASE as CLAIMS_LEASE } from '@tenure/claims/rows'
import { LEADER_LEASE as DATABASES_LEASE } from '@tenure/databases/cli'
import { Lease } from '@tenure/kube/kinds'
import { LEASE_OPERATOR } from '@tenure/leases/cli'
import { parseTime } from '@tenure/runtime'
import type { Lists } from './lists.ts'

/** The leader Lease of an operator. A namespace may have an operator of its own. */
export interface LeaderRow {
  readonly operator: string
  readonly namespace: string
  readonly lease: string
  /** Absent if no process leads. */
  readonly holder?: string
  /** Milliseconds since 1970. */
  readonly renewedAt?: number
  /** Its holder has not renewed it in time. */
  readonly isStale: boolean
}

/** The Leases of the operators' elections by the names of the operators. */
export const LEADER_LEASES: Readonly<Record<string, string>> = {
  applications: APPLICATIONS_LEASE,
  claims: CLAIMS_LEASE,
  'lease-controllers': `${LEASE_OPERATOR}-leader`,
  databases: DATABASES_LEASE,
}

/** The leader Leases of all operators, in all namespaces: operators do not run where their objects are. */
export async function leaders(lists: Lists, now: number): Promise<readonly LeaderRow[]> {
  const found = await Promise.all(
    Object.entries(LEADER_LEASES).map(async ([operator, name]) => {
      const leases = await lists.list(Lease, { fieldSelector: `metadata.name=${name}` })
      return leases.map((lease) => leaderRow(operator, lease, now))
    }),
  )
  return found.flat()
}

function leaderRow(
  operator: string,
  { metadata, spec = {} }: { readonly metadata: { readonly name: string; readonly namespace?: string } } & Lease,
  now: number,
): LeaderRow {
  const { holderIdentity, leaseDurationSeconds = 0, renewTime } = spec
  const renewedAt = renewTime === undefined ? undefined : parseTime(renewTime)
  const isHeld = holderIdentity !== undefined && holderIdentity !== ''
  return {
    operator,
    namespace: metadata.namespace ?? '',
    lease: metadata.name,
    ...(isHeld && { holder: holderIdentity }),
    ...(renewedAt !== undefined && { renewedAt }),
    isStale: isHeld && renewedAt !== undefined && now - renewedAt > leaseDurationSeconds * 1_000,
  }
}
