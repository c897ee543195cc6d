import { expect, test } from 'vitest'
import type { User } from '../../registry/types.ts'
import { ADMIN, ANONYMOUS } from './authentication.ts'
import type { AccessAttributes } from './authorization.ts'
import { actingUser } from './impersonation.ts'

const allowAll = { authorize: () => ({ allowed: true, reason: '' }) }

/** Allows only the given permissions: `group/resource/subresource name`. */
function allowOnly(...allowed: readonly string[]): typeof allowAll & { readonly asked: string[] } {
  const asked: string[] = []
  const authorize = ({ resource, verb }: AccessAttributes): { allowed: boolean; reason: string } => {
    const place = [resource?.group, resource?.plural, resource?.subresource].join('/')
    const what = `${verb} ${place} ${resource?.namespace ?? ''} ${resource?.name}`
    asked.push(what)
    return { allowed: allowed.includes(what), reason: '' }
  }
  return { authorize: authorize as typeof allowAll.authorize, asked }
}

const alice: User = { name: 'alice', groups: ['system:authenticated'] }

test('a request without impersonation headers keeps its user', () => {
  expect(actingUser(alice, { accept: '*/*' }, allowOnly())).toBe(alice)
})

test('an impersonated service account has its groups unless others are named', () => {
  const name = 'system:serviceaccount:team:robot'
  expect(actingUser(ADMIN, { 'impersonate-user': name }, allowAll).groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:team',
    'system:authenticated',
  ])
  const grouped = actingUser(ADMIN, { 'impersonate-user': name, 'impersonate-group': 'a, b' }, allowAll)
  expect(grouped.groups).toEqual(['a', 'b', 'system:authenticated'])
})

test('an impersonated anonymous user is not authenticated', () => {
  const anonymous = actingUser(ADMIN, { 'impersonate-user': ANONYMOUS.name }, allowAll)
  expect(anonymous.groups).toEqual(ANONYMOUS.groups)
  const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' }
  expect(actingUser(ADMIN, headers, allowAll).groups).toEqual(['system:unauthenticated'])
})

test('each part of an impersonation needs its own permission', () => {
  const headers = {
    'impersonate-user': 'system:serviceaccount:team:robot',
    'impersonate-group': 'ops',
    'impersonate-uid': 'u1',
    'impersonate-extra-acme.com%2fscope': 'view',
  }
  const rights = [
    'impersonate /serviceaccounts/ team robot',
    'impersonate /groups/  ops',
    'impersonate authentication.k8s.io/userextras/acme.com/scope  view',
    'impersonate authentication.k8s.io/uids/  u1',
  ]
  const all = allowOnly(...rights)
  expect(actingUser(alice, headers, all)).toEqual({
    name: headers['impersonate-user'],
    uid: 'u1',
    groups: ['ops', 'system:authenticated'],
    extra: { 'acme.com/scope': ['view'] },
  })
  expect(all.asked).toEqual(rights)
  for (const missing of rights) {
    const fewer = allowOnly(...rights.filter((right) => right !== missing))
    expect(() => actingUser(alice, headers, fewer)).toThrow(/is forbidden: User "alice" cannot impersonate resource/)
  }
})

test('an impersonation without a user name is refused', () => {
  expect(() => actingUser(ADMIN, { 'impersonate-group': 'system:masters' }, allowAll)).toThrow(
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"system:masters"}, Extra:map[string][]string(nil)} without impersonating a user name',
  )
})
