import { TenureError } from '../errors/errors.ts'
import type { Kind } from '../model/kind.ts'
import type { ObjectRef } from '../model/object.ts'

/** The path of the objects of a kind, in one namespace or in all. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const root = kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`
  if (!kind.namespaced || namespace === undefined) return `${root}/${kind.plural}`
  return `${root}/namespaces/${segment(kind, 'namespace', namespace)}/${kind.plural}`
}

/** The path of one object. `ref` must have a namespace if the kind is namespaced. */
export function objectPath(kind: Kind, ref: ObjectRef, subresource?: string): string {
  const path = `${collectionPath(kind, requireNamespace(kind, ref.namespace, ref.name))}/${segment(kind, 'name', ref.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** `namespace` for a namespaced kind, undefined for a cluster-scoped one. */
export function requireNamespace(kind: Kind, namespace: string | undefined, name?: string): string | undefined {
  if (!kind.namespaced) return undefined
  if (namespace) return namespace
  const which = name ? `${kind.kind} "${name}"` : kind.kind
  throw new TenureError(
    'TENURE_NAMESPACE_MISSING',
    `${which} has no namespace, but ${kind.kind} is a namespaced kind: set a namespace, or give the client a default one.`,
  )
}

export type QueryValue = string | number | boolean | undefined

/** `path` with the parameters that are not undefined, in the order given. */
export function withQuery(path: string, parameters: Readonly<Record<string, QueryValue>>): string {
  let query = ''
  for (const name in parameters) {
    const value = parameters[name]
    if (value !== undefined) query += `${query ? '&' : '?'}${name}=${encodeURIComponent(value)}`
  }
  return path + query
}

/**
 * A name as one segment of a path. Characters that Kubernetes allows in no name are rejected here, because a proxy could
 * read them as another path.
 */
function segment(kind: Kind, what: 'name' | 'namespace', value: string): string {
  if (!value) {
    throw new TenureError(
      'TENURE_NAME_MISSING',
      `A ${kind.kind} cannot be addressed by an empty ${what}: give its ${what}.`,
    )
  }
  if (value === '.' || value === '..' || value.includes('/') || value.includes('%')) {
    throw new TenureError(
      'TENURE_NAME_INVALID',
      `"${value}" cannot be the ${what} of a ${kind.kind}: Kubernetes allows no "/", "%", "." or ".." there.`,
    )
  }
  return encodeURIComponent(value)
}
