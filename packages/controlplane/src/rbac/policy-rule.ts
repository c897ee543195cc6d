import type { ClusterRole } from '@tenure/kube/kinds'

/** A rule of a stored Role or ClusterRole. */
export type StoredPolicyRule = Partial<NonNullable<ClusterRole['rules']>[number]>

/** One verb on one resource or path. A rule covers it completely or not at all. */
export interface Permission {
  readonly verb: string
  /** Absent for a path. `resource` includes the subresource: `pods/status`. */
  readonly resource?: {
    readonly apiGroup: string
    readonly resource: string
    /** Undefined: all objects of the resource. */
    readonly name: string | undefined
  }
  /** Path of a request without resource. */
  readonly path?: string
}

/** True if the rule grants the permission, as RBAC in kube-apiserver decides. */
export function ruleCovers(rule: StoredPolicyRule, { verb, resource: wanted, path }: Permission): boolean {
  if (!includes(rule.verbs, verb)) return false
  if (!wanted) return path !== undefined && (rule.nonResourceURLs?.some((url) => pathMatches(url, path)) ?? false)
  const { apiGroup, resource, name } = wanted
  if (!includes(rule.apiGroups, apiGroup) || !resourceMatches(rule.resources, resource)) return false
  const { resourceNames } = rule
  return !resourceNames || resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name))
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value))
}

function resourceMatches(resources: readonly string[] | undefined, resource: string): boolean {
  if (includes(resources, resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && (resources?.includes(`*${resource.slice(slash)}`) ?? false)
}

function pathMatches(url: string, path: string): boolean {
  return url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')))
}
