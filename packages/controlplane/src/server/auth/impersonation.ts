import { badRequest } from '../../errors.ts'
import type { User } from '../../registry/types.ts'
import { ANONYMOUS } from './authentication.ts'
import { accessDenied } from './authorization.ts'
import type { AccessAttributes, Authorizer } from './authorization.ts'

const AUTHENTICATED = 'system:authenticated'
const EXTRA = 'impersonate-extra-'
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The user that a request asks to impersonate. */
interface Requested {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The user that a request acts as, after impersonation. Throws a 400 or 403. */
export function actingUser(
  user: User,
  headers: Readonly<Record<string, string | undefined>>,
  authorizer: Pick<Authorizer, 'authorize'>,
): User {
  const requested = requestedBy(headers)
  if (!requested) return user
  const { name, uid, groups, extra } = requested
  if (name === '') {
    throw badRequest(`requested ${goUser(requested)} without impersonating a user name`)
  }
  const [, namespace, account] = SERVICE_ACCOUNT.exec(name) ?? []
  const check = (resource: Partial<Resource> & Pick<Resource, 'plural' | 'name'>): void => {
    const asked = { group: '', subresource: '', namespace: undefined, ...resource }
    if (authorizer.authorize({ user, verb: 'impersonate', resource: asked, path: '' }).allowed) return
    throw accessDenied(user, 'impersonate', asked)
  }
  const group = 'authentication.k8s.io'
  check(account === undefined ? { plural: 'users', name } : { plural: 'serviceaccounts', name: account, namespace })
  for (const one of groups) check({ plural: 'groups', name: one })
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) check({ group, plural: 'userextras', subresource: key, name: value })
  }
  if (uid !== '') check({ group, plural: 'uids', name: uid })
  return {
    name,
    ...(uid !== '' && { uid }),
    groups: withUsual(name, groups.length === 0 && namespace !== undefined ? accountGroups(namespace) : groups),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

type Resource = NonNullable<AccessAttributes['resource']>

const accountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** Adds the group of authenticated or unauthenticated users, unless the request names one of them. */
function withUsual(name: string, groups: readonly string[]): readonly string[] {
  const unknown = ANONYMOUS.groups[0] ?? ''
  if (name === ANONYMOUS.name) return groups.includes(unknown) ? groups : [...groups, unknown]
  return groups.includes(AUTHENTICATED) || groups.includes(unknown) ? groups : [...groups, AUTHENTICATED]
}

function requestedBy(headers: Readonly<Record<string, string | undefined>>): Requested | undefined {
  const name = headers['impersonate-user'] ?? ''
  const uid = headers['impersonate-uid'] ?? ''
  const groups = list(headers['impersonate-group'])
  const extra: Record<string, readonly string[]> = {}
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(EXTRA)) continue
    Object.defineProperty(extra, unescaped(header.slice(EXTRA.length)), { value: list(value), enumerable: true })
  }
  if (name === '' && uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined
  return { name, uid, groups, extra }
}

/** Repeated headers are joined by commas. */
const list = (value: string | undefined): readonly string[] =>
  value ? value.split(',').map((part) => part.trim()) : []

/** Keys are percent-encoded where headers require it; a key that cannot be decoded is used as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

const goTexts = (values: readonly string[]): string =>
  `[]string${values.length > 0 ? `{${values.map((value) => JSON.stringify(value)).join(', ')}}` : '(nil)'}`

/** Formats a user as Go does. */
function goUser({ name, uid, groups, extra }: Requested): string {
  const keys = Object.keys(extra).toSorted()
  const pairs = keys.map((key) => `${JSON.stringify(key)}:${goTexts(extra[key] ?? [])}`)
  const map = `map[string][]string${pairs.length > 0 ? `{${pairs.join(', ')}}` : '(nil)'}`
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${goTexts(groups)}, Extra:${map}}`
}
