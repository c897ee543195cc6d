/** The access that a 403 response denies to a user. */
export interface DeniedAccess {
  readonly user: string
  readonly verb: string
  /** Undefined for a path. */
  readonly resource: string | undefined
  /** Empty for the core group. */
  readonly group: string | undefined
  /** Undefined for cluster-wide access. */
  readonly namespace: string | undefined
  /** A URL path that is not a resource. */
  readonly path: string | undefined
}

/** The text of kube-apiserver's authorizer: a Status has no fields for it. */
const DENIED =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) (?:resource "(?<resource>[^"]*)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]*)")?|path "(?<path>[^"]*)")/

export function deniedAccessIn(message: string): DeniedAccess | undefined {
  const { user, verb, resource, group, namespace, path } = DENIED.exec(message)?.groups ?? {}
  return user === undefined || verb === undefined ? undefined : { user, verb, resource, group, namespace, path }
}

/** Whether a 403 response comes from admission (a quota, a webhook), not from authorization. */
export function isAdmissionDenial(message: string): boolean {
  return /is forbidden: (?!User )|denied the request/.test(message)
}
