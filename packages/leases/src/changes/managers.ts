import type { ApiGroups, Kind, Stored } from '@tenure/kube'
import type { LeaseController } from '../api/lease-controller.ts'
import { resolveKind } from '../controllers/lease-controller/resolve-kind.ts'
import { targetOf } from '../controllers/lease-controller/target.ts'

/** The LeaseControllers that manage the leases of a kind. */
export function managersOf(
  all: readonly Stored<LeaseController>[],
  { group, plural }: Pick<Kind, 'group' | 'plural'>,
  groups: ApiGroups,
): readonly Stored<LeaseController>[] {
  return all.filter(({ spec }) => {
    const target = targetOf(spec)
    const resolution = target.ok ? resolveKind(groups, target.wanted) : undefined
    const isFound = resolution?.state === 'found'
    return isFound && resolution.resource.group === group && resolution.resource.plural === plural
  })
}
