/** A rule of a Role: what may be done to what. */
export interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** What the rules of `wanted` allow and those of `held` do not, in the words of a refusal. Empty: nothing. */
export function missingRights(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly string[] {
  const missing = wanted.flatMap(singleRights).filter((right) => !held.some((rule) => covers(rule, right)))
  return [...new Set(compacted(missing).map(shown))].toSorted()
}

/** A right that can not be divided: of such, a rule covers all or nothing. */
interface Right {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

function singleRights(rule: PolicyRule): readonly Right[] {
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

function covers(rule: PolicyRule, right: Right): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const hasResource = (resource: string): boolean =>
    resources.includes(resource) ||
    (resource.includes('/') && resources.includes(`*${resource.slice(resource.indexOf('/'))}`))
  const hasPath = (path: string): boolean =>
    nonResourceURLs.some((url) => url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''))))
  return (
    all(verbs, right.verbs) &&
    all(apiGroups, right.apiGroups) &&
    (resources.includes('*') || right.resources.every(hasResource)) &&
    right.nonResourceURLs.every(hasPath) &&
    (resourceNames.length === 0 ||
      (right.resourceNames.length > 0 && right.resourceNames.every((name) => resourceNames.includes(name))))
  )
}

/** Rights that differ in their verb only, as one. */
function compacted(rights: readonly Right[]): readonly Right[] {
  const byResource = new Map<string, Right>()
  const others: Right[] = []
  for (const right of rights) {
    if (right.nonResourceURLs.length > 0) {
      others.push(right)
      continue
    }
    const key = JSON.stringify([right.apiGroups, right.resources, right.resourceNames])
    const known = byResource.get(key)
    byResource.set(key, known ? { ...known, verbs: [...known.verbs, ...right.verbs] } : right)
  }
  return [...others, ...byResource.values()]
}

function shown({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: Right): string {
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

/** As Go prints a list of strings. */
export const quotedList = (list: readonly string[]): string => `[${list.map((item) => JSON.stringify(item)).join(' ')}]`
