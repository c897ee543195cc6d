import { type Permission, ruleCovers, type StoredPolicyRule } from '../../rbac/policy-rule.ts'

/** The permissions of `wanted` that `held` does not grant, as kube-apiserver prints them. */
export function missingPermissions(
  held: readonly StoredPolicyRule[],
  wanted: readonly StoredPolicyRule[],
): readonly string[] {
  const missing = wanted
    .flatMap(permissionsOf)
    .filter((permission) => !held.some((rule) => ruleCovers(rule, permission)))
  return [...new Set([...missing.flatMap(formatPath), ...formatResources(missing)])].toSorted()
}

function permissionsOf(rule: StoredPolicyRule): readonly Permission[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const names = resourceNames.length > 0 ? resourceNames : [undefined]
  const ofResources = apiGroups.flatMap((apiGroup) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => names.map((name) => ({ verb, resource: { apiGroup, resource, name } }))),
    ),
  )
  return [...ofResources, ...nonResourceURLs.flatMap((path) => verbs.map((verb) => ({ verb, path })))]
}

function formatPath({ verb, path }: Permission): readonly string[] {
  return path === undefined ? [] : [`{NonResourceURLs:${quotedList([path])}, Verbs:${quotedList([verb])}}`]
}

/** Merges permissions that differ only in their verb. */
function formatResources(permissions: readonly Permission[]): readonly string[] {
  const verbs = new Map<string, string[]>()
  for (const { verb, resource: wanted } of permissions) {
    if (!wanted) continue
    const { apiGroup, resource, name } = wanted
    const names = name === undefined ? '' : `, ResourceNames:${quotedList([name])}`
    const key = `APIGroups:${quotedList([apiGroup])}, Resources:${quotedList([resource])}${names}`
    const known = verbs.get(key)
    if (known) known.push(verb)
    else verbs.set(key, [verb])
  }
  return [...verbs].map(([key, list]) => `{${key}, Verbs:${quotedList(list)}}`)
}

/** Formats a list of strings as Go does. */
export const quotedList = (list: readonly string[]): string => `[${list.map((item) => JSON.stringify(item)).join(' ')}]`
