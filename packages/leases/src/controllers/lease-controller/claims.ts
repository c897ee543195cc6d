import type { ApiGroups, Stored } from '@tenure/kube'
import type { LeaseController, LeaseControllerMode, LeasedResource } from '../../api/lease-controller.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { allowedBy } from './allowed-resources.ts'
import { isDefault } from './defaults.ts'
import type { KindClaim } from './kind-controllers.ts'
import { resolveIfNamed } from './resolve-kind.ts'
import { kindOf } from './status.ts'
import { targetOf } from './target.ts'

export interface ClaimsInput {
  readonly resource: LeasedResource
  readonly groups: ApiGroups
  readonly object: Stored<LeaseController>
  readonly all: readonly Stored<LeaseController>[]
  /** Whether another LeaseController would run the resource inside the operator. */
  readonly wouldRun: (other: Stored<LeaseController>) => boolean
  /** Of the operator. */
  readonly settings: LeaseSettings
}

/**
 * The claims on a resource of all LeaseControllers that run it inside the operator, by rank. Those that were not planned
 * yet count, too: after a restart, an object that one keeps in a dry run must not be deleted in the name of another.
 */
export function claimsOn({ all, groups, object, resource, settings, wouldRun }: ClaimsInput): readonly KindClaim[] {
  const others = all.filter((other) => {
    if (other.metadata.name === object.metadata.name) return false
    const target = targetOf(other.spec)
    return target.ok && resolveIfNamed(groups, target.wanted, resource) !== undefined && wouldRun(other)
  })
  return [object, ...others]
    .map((each) => claimOf(each, resource, settings))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
}

/**
 * The LeaseController whose Deployment manages a resource instead of `object`: a deployed one takes precedence over
 * shared ones; of several deployed ones the first by rank counts.
 */
export function dedicatedManager(
  all: readonly Stored<LeaseController>[],
  object: Stored<LeaseController>,
  { group, plural }: LeasedResource,
  mode: LeaseControllerMode,
): string | undefined {
  return all.find((other) => {
    const { metadata, spec, status = {} } = other
    const isSame = status.resource?.group === group && status.resource.plural === plural
    const isDeployed = status.mode === 'dedicated' && !spec.suspend && metadata.uid !== object.metadata.uid
    return isSame && isDeployed && (mode === 'shared' || rankOf(other) < rankOf(object))
  })?.metadata.name
}

function claimOf(object: Stored<LeaseController>, resource: LeasedResource, settings: LeaseSettings): KindClaim {
  const { optIn, dryRun } = object.spec
  return {
    claimant: object.metadata.name,
    rank: rankOf(object),
    kind: kindOf(resource),
    settings: {
      ...settings,
      ...(optIn && { optIn }),
      ...(dryRun !== undefined && { dryRun }),
      cleanup: allowedBy(object.spec, settings.cleanup),
    },
  }
}

/** The lowest counts: users' LeaseControllers before defaults, then the oldest. */
function rankOf(object: Stored<LeaseController>): string {
  const { name, creationTimestamp } = object.metadata
  return `${isDefault(object) ? 1 : 0} ${creationTimestamp} ${name}`
}
