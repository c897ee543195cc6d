import type { ApiGroups, ApiResource } from '@tenure/kube'
import type { LeasedResource } from '../../api/lease-controller.ts'
import { describeWanted, type WantedKind } from './target.ts'

/** Result of resolving a kind by discovery. */
export type Resolution =
  | { readonly state: 'found'; readonly resource: LeasedResource; readonly note: string | undefined }
  /** Not served now, but may be later. */
  | { readonly state: 'missing'; readonly reason: string }
  /** Ambiguous, or lacks required verbs: only another spec helps. */
  | { readonly state: 'unfit'; readonly reason: string }

/** Verbs that a lease controller uses. */
const NEEDED_VERBS = ['list', 'watch', 'patch', 'delete']

/**
 * Resolves a kind. An exact match wins, then another version in the same group. Without a group, the only group that
 * serves the kind matches; a named group is waited for, because a kind of that name elsewhere is another kind.
 */
export function resolveKind(groups: ApiGroups, wanted: WantedKind): Resolution {
  const { group, version } = wanted
  const resources = groups.flatMap(({ versions }) => versions.flatMap((served) => served.resources))
  const named = resources.filter((resource) => isNamed(resource, wanted.names))
  const inGroup = named.filter((resource) => resource.group === group)
  const exact = inGroup.find((resource) => version === undefined || resource.version === version)
  if (exact) return resolved(exact, undefined)
  const [preferred] = inGroup
  if (preferred) {
    return resolved(preferred, `version ${version ?? ''} is not served; using ${preferred.version}`)
  }
  if (group !== '') return missing(groups, wanted)
  return resolveInAnyGroup(named, wanted) ?? missing(groups, wanted)
}

/** Resolves a wanted kind only if it may be `resource`: a cheap check for many LeaseControllers. */
export function resolveIfNamed(
  groups: ApiGroups,
  wanted: WantedKind,
  { group, version, plural }: LeasedResource,
): Resolution | undefined {
  const served = groups.find(({ name }) => name === group)?.versions.find((each) => each.version === version)
  const resource = served?.resources.find((each) => each.plural === plural)
  return resource && isNamed(resource, wanted.names) ? resolveKind(groups, wanted) : undefined
}

/** Searches all groups: the seed's own example has `group: ""` for a Deployment. */
function resolveInAnyGroup(named: readonly ApiResource[], wanted: WantedKind): Resolution | undefined {
  const inVersion = named.filter(({ version }) => wanted.version === undefined || version === wanted.version)
  const candidates = inVersion.length > 0 ? inVersion : named
  const groups = [...new Set(candidates.map(({ group }) => group))]
  const [first] = candidates
  if (!first) return undefined
  if (groups.length > 1) {
    return {
      state: 'unfit',
      reason: `The core group has no ${wanted.names[0] ?? 'such kind'}, and several other groups do: set spec.group to ${groups.join(' or ')}.`,
    }
  }
  const place = `${first.group}/${first.version}`
  return resolved(first, `the core group has no ${first.kind}; using ${place}`)
}

function resolved(resource: ApiResource, note: string | undefined): Resolution {
  const missingVerbs = NEEDED_VERBS.filter((verb) => !resource.verbs.includes(verb))
  if (missingVerbs.length > 0) {
    // Discovery drops `patch` while a CRD is being deleted; it may be created again.
    if (missingVerbs.join() === 'patch') {
      return { state: 'missing', reason: `${resource.kind} cannot be patched: its CRD is being deleted.` }
    }
    return {
      state: 'unfit',
      reason: `${resource.kind} cannot have leases: the API server does not support ${missingVerbs.join(', ')} for ${resource.plural}.`,
    }
  }
  const { group, version, kind, plural, namespaced } = resource
  return { state: 'found', resource: { group, version, kind, plural, namespaced }, note }
}

function missing(groups: ApiGroups, wanted: WantedKind): Resolution {
  const failure = groups
    .filter(({ name }) => name === wanted.group)
    .flatMap(({ versions }) => versions)
    .find((served) => served.failure)?.failure
  const why = failure ? ` ${failure.message}` : ''
  return {
    state: 'missing',
    reason: `The API server does not serve ${describeWanted(wanted)}. The operator waits for it: if it is a custom resource, install its CRD.${why}`,
  }
}

/** Whether a resource has all of these names. A partial match may be another kind. */
function isNamed(resource: ApiResource, names: readonly string[]): boolean {
  return names.every((name) => {
    const lower = name.toLowerCase()
    return resource.kind.toLowerCase() === lower || resource.plural === lower || resource.singular === lower
  })
}
