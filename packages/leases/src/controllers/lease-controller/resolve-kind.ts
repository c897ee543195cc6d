import type { ApiGroups, ApiResource } from '@tenure/kube'
import type { LeasedResource } from '../../api/lease-controller.ts'
import { describeWanted, type WantedKind } from './target.ts'

/** What became of the search for a kind among all that the API server serves. */
export type Resolution =
  | { readonly state: 'found'; readonly resource: LeasedResource; readonly note: string | undefined }
  /** Not served, now. It may be later. */
  | { readonly state: 'missing'; readonly reason: string }
  /** Served, and no lease can be kept on it; or not to be told from others. Only another spec helps. */
  | { readonly state: 'unfit'; readonly reason: string }

/** A lease is kept with these. */
const NEEDED_VERBS = ['list', 'watch', 'patch', 'delete']

/**
 * Finds the kind. One that is exactly there is it. Of its group, another version will do. Written without a group, the
 * one group that has it will do; a group that was named is waited for, because another kind of that name is another kind.
 */
export function resolveKind(groups: ApiGroups, wanted: WantedKind): Resolution {
  const { group, version } = wanted
  const resources = groups.flatMap(({ versions }) => versions.flatMap((served) => served.resources))
  const named = resources.filter((resource) => isNamed(resource, wanted.names))
  const inGroup = named.filter((resource) => resource.group === group)
  const exact = inGroup.find((resource) => version === undefined || resource.version === version)
  if (exact) return fit(exact, undefined)
  const [preferred] = inGroup
  if (preferred) {
    return fit(preferred, `version ${version ?? ''} is not served; the one that is, ${preferred.version}, is used`)
  }
  if (group !== '') return missing(groups, wanted)
  return elsewhere(named, wanted) ?? missing(groups, wanted)
}

/** What a wanted kind is, if it may be `resource` at all; undefined if not. For who asks about many. */
export function resolveIfNamed(
  groups: ApiGroups,
  wanted: WantedKind,
  { group, version, plural }: LeasedResource,
): Resolution | undefined {
  const served = groups.find(({ name }) => name === group)?.versions.find((each) => each.version === version)
  const resource = served?.resources.find((each) => each.plural === plural)
  return resource && isNamed(resource, wanted.names) ? resolveKind(groups, wanted) : undefined
}

/** The seed's own example writes `group: ""` for a Deployment. */
function elsewhere(named: readonly ApiResource[], wanted: WantedKind): Resolution | undefined {
  const inVersion = named.filter(({ version }) => wanted.version === undefined || version === wanted.version)
  const candidates = inVersion.length > 0 ? inVersion : named
  const groups = [...new Set(candidates.map(({ group }) => group))]
  const [first] = candidates
  if (!first) return undefined
  if (groups.length > 1) {
    return {
      state: 'unfit',
      reason: `The core group has no ${wanted.names[0] ?? 'such kind'}, and several others have one: set spec.group to ${groups.join(' or ')}.`,
    }
  }
  const place = `${first.group}/${first.version}`
  return fit(first, `the core group has no ${first.kind}; the one of ${place} is used`)
}

function fit(resource: ApiResource, note: string | undefined): Resolution {
  const lacking = NEEDED_VERBS.filter((verb) => !resource.verbs.includes(verb))
  if (lacking.length > 0) {
    // So the API server shows a custom resource whose CRD is being deleted: another may take its place.
    if (lacking.join() === 'patch') {
      return { state: 'missing', reason: `${resource.kind} can not be changed any more: its CRD is being deleted.` }
    }
    return {
      state: 'unfit',
      reason: `No lease can be kept on ${resource.kind}: the API server offers no ${lacking.join(', ')} for ${resource.plural}.`,
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
    reason: `The API server does not serve ${describeWanted(wanted)}. It is waited for: if it is a custom resource, install its CRD.${why}`,
  }
}

/** Whether a resource has all of these names. One that has only some of them may not be what is meant. */
function isNamed(resource: ApiResource, names: readonly string[]): boolean {
  return names.every((name) => {
    const lower = name.toLowerCase()
    return resource.kind.toLowerCase() === lower || resource.plural === lower || resource.singular === lower
  })
}
