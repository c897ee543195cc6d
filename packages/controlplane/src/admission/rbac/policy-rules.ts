/** A rule of a Role: what may be done to what. */
export interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** The permissions of `wanted` that `held` does not grant, as kube-apiserver prints them. */
export function missingPermissions(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly string[] {
  const missing = wanted
    .flatMap(singlePermissions)
    .filter((permission) => !held.some((rule) => covers(rule, permission)))
  return [...new Set(compacted(missing).map(format))].toSorted()
}

/** A rule with at most one entry per list: another rule covers it completely or not at all. */
interface Permission {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

function singlePermissions(rule: PolicyRule): readonly Permission[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const names = resourceNames.length > 0 ? resourceNames.map((name) => [name]) : [[]]
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames: name,
          nonResourceURLs: [],
        })),
      ),
    ),
  )
  const ofPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({
      verbs: [verb],
      apiGroups: [],
      resources: [],
      resourceNames: [],
      nonResourceURLs: [url],
    })),
  )
  return [...ofResources, ...ofPaths]
}

const all = (list: readonly string[], parts: readonly string[]): boolean =>
  list.includes('*') || parts.every((part) => list.includes(part))

function covers(rule: PolicyRule, permission: Permission): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const hasResource = (resource: string): boolean =>
    resources.includes(resource) ||
    (resource.includes('/') && resources.includes(`*${resource.slice(resource.indexOf('/'))}`))
  const hasPath = (path: string): boolean =>
    nonResourceURLs.some((url) => url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''))))
  return (
    all(verbs, permission.verbs) &&
    all(apiGroups, permission.apiGroups) &&
    (resources.includes('*') || permission.resources.every(hasResource)) &&
    permission.nonResourceURLs.every(hasPath) &&
    (resourceNames.length === 0 ||
      (permission.resourceNames.length > 0 && permission.resourceNames.every((name) => resourceNames.includes(name))))
  )
}

/** Merges permissions that differ only in their verb. */
function compacted(permissions: readonly Permission[]): readonly Permission[] {
  const byResource = new Map<string, Permission>()
  const others: Permission[] = []
  for (const permission of permissions) {
    if (permission.nonResourceURLs.length > 0) {
      others.push(permission)
      continue
    }
    const key = JSON.stringify([permission.apiGroups, permission.resources, permission.resourceNames])
    const known = byResource.get(key)
    byResource.set(key, known ? { ...known, verbs: [...known.verbs, ...permission.verbs] } : permission)
  }
  return [...others, ...byResource.values()]
}

function format({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: Permission): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  })
  const texts = parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name}:${quotedList(list)}`)
  return `{${texts.join(', ')}}`
}

/** Formats a list of strings as Go does. */
export const quotedList = (list: readonly string[]): string => `[${list.map((item) => JSON.stringify(item)).join(' ')}]`
