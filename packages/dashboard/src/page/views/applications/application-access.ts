import type { ActionAccess } from '../../data/access.ts'

/** The right that an action on Applications needs. */
export function applicationAccess(verb: string, namespace: string | undefined): ActionAccess {
  return { group: 'cloudnative.elide.dev', resource: 'applications', verb, namespace }
}

/** The path of the Applications of a namespace, or of one of them. */
export function applicationPath(namespace: string, name?: string): string {
  const path = `./apis/cloudnative.elide.dev/v1/namespaces/${encodeURIComponent(namespace)}/applications`
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`
}
