import type { Logger } from '@tenure/runtime'
import type { Access, AuthenticatedUser } from '../auth/access.ts'

/** The object of a write, as in an RBAC rule. No field may hold a secret. */
export interface AuditedObject {
  readonly group?: string | undefined
  readonly resource?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** The facts of a write for the audit log. */
export interface AuditedWrite {
  readonly requestId: string
  readonly method: string
  /** The path with the names of its parameters: the values may be secrets. */
  readonly route: string
  /** Undefined if callers need no token. */
  readonly user: AuthenticatedUser | undefined
  readonly remoteAddress: string
  /** The `X-Forwarded-For` header, which a caller can make up. */
  readonly forwardedFor: string | undefined
  /** The last access that the route asked for. */
  readonly access: Access | undefined
  readonly object: AuditedObject
  /** Undefined if the caller disconnected before the response; the write may have been carried out. */
  readonly status: number | undefined
}

/** Longer values of a header are cut: the caller chooses them. */
const MAX_HEADER_LENGTH = 256

/** Writes one line of the audit log. */
export function recordWrite(log: Logger, write: AuditedWrite): void {
  const { access, forwardedFor, object, user, ...facts } = write
  const asked = typeof access === 'object' ? access : undefined
  const target = asked && 'resource' in asked ? asked : undefined
  const group = object.group ?? target?.group
  const resource = object.resource ?? target?.resource
  log.info('write requested', {
    audit: true,
    ...facts,
    user: user?.name,
    forwardedFor: forwardedFor?.slice(0, MAX_HEADER_LENGTH),
    verb: asked?.verb,
    resource: group ? `${resource}.${group}` : resource,
    namespace: object.namespace ?? target?.namespace,
    name: object.name ?? target?.name,
  })
}
