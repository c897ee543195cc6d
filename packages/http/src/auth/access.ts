/** Access to a resource, as in an RBAC rule. */
export interface ResourceAccess {
  readonly group: string
  readonly resource: string
  readonly verb: string
  /** Default: all namespaces. */
  readonly namespace?: string | undefined
  /** Default: any name. */
  readonly name?: string | undefined
}

/** Access to a path, as in RBAC's `nonResourceURLs`. */
export interface PathAccess {
  readonly path: string
  /** `get`, `post`. */
  readonly verb: string
}

/** The access that a caller needs; `public`: none. */
export type Access = 'public' | ResourceAccess | PathAccess

/**
 * Every authenticated account may ask for its own permissions, so this is the access of routes that authorize the caller for
 * each thing that they show or change.
 */
export const ANY_ACCOUNT: ResourceAccess = {
  group: 'authorization.k8s.io',
  resource: 'selfsubjectaccessreviews',
  verb: 'create',
}

/** The caller, as the API server identifies it. */
export interface AuthenticatedUser {
  readonly name: string
  readonly uid?: string | undefined
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** `delete applications.cloudnative.elide.dev "web" in namespace "shop"`. */
export function describeAccess(access: ResourceAccess | PathAccess): string {
  if ('path' in access) return `${access.verb} the path "${access.path}"`
  const { group, resource, verb, namespace, name } = access
  const what = `${verb} ${group ? `${resource}.${group}` : resource}${name ? ` "${name}"` : ''}`
  return namespace ? `${what} in namespace "${namespace}"` : what
}
