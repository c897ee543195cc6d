/** A right on a resource, as RBAC knows it. */
export interface ResourceAccess {
  readonly group: string
  readonly resource: string
  readonly verb: string
  /** Default: in all namespaces. */
  readonly namespace?: string | undefined
  /** Default: any name. */
  readonly name?: string | undefined
}

/** A right on a path, as RBAC's `nonResourceURLs` know it. */
export interface PathAccess {
  readonly path: string
  /** `get`, `post`. */
  readonly verb: string
}

/** What a caller must be allowed to do; `public`: anybody may call. */
export type Access = 'public' | ResourceAccess | PathAccess

/** Who calls, as the API server knows them. */
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
