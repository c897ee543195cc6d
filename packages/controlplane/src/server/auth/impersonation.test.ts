import { expect, test } from 'vitest'
import type { User } from '../../registry/types.ts'
import { ADMIN, ANONYMOUS } from './authentication.ts'
import type { AccessAttributes } from './authorization.ts'
import { actingUser } from './impersonation.ts'

const everybody = { authorize: () => ({ allowed: true, reason: '' }) }

/** Allows what is listed: `group/resource/subresource name`. */
function only(...allowed: readonly string[]): typeof everybody & { readonly asked: string[] } {
  const asked: string[] = []
  const authorize = ({ resource, verb }: AccessAttributes): { allowed: boolean; reason: string } => {
    const place = [resource?.group, resource?.plural, resource?.subresource].join('/')
    const what = `${verb} ${place} ${resource?.namespace ?? ''} ${resource?.name}`
    asked.push(what)
    return { allowed: allowed.includes(what), reason: '' }
  }
  return { authorize: authorize as typeof everybody.authorize, asked }
}

const alice: User = { name: 'alice', groups: ['system:authenticated'] }

test('without a wish everybody is who he is', () => {
  expect(actingUser(alice, { accept: '*/*' }, only())).toBe(alice)
})

test('a service account has its groups, unless others are named', () => {
  const name = 'system:serviceaccount:team:robot'
  expect(actingUser(ADMIN, { 'impersonate-user': name }, everybody).groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:team',
    'system:authenticated',
  ])
  const grouped = actingUser(ADMIN, { 'impersonate-user': name, 'impersonate-group': 'a, b' }, everybody)
  expect(grouped.groups).toEqual(['a', 'b', 'system:authenticated'])
})

test('who is unknown is not made known', () => {
  const nobody = actingUser(ADMIN, { 'impersonate-user': ANONYMOUS.name }, everybody)
  expect(nobody.groups).toEqual(ANONYMOUS.groups)
  const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' }
  expect(actingUser(ADMIN, headers, everybody).groups).toEqual(['system:unauthenticated'])
})

test('each part must be allowed by itself', () => {
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
  const all = only(...rights)
  expect(actingUser(alice, headers, all)).toEqual({
    name: headers['impersonate-user'],
    uid: 'u1',
    groups: ['ops', 'system:authenticated'],
    extra: { 'acme.com/scope': ['view'] },
  })
  expect(all.asked).toEqual(rights)
  for (const missing of rights) {
    const fewer = only(...rights.filter((right) => right !== missing))
    expect(() => actingUser(alice, headers, fewer)).toThrow(/is forbidden: User "alice" cannot impersonate resource/)
  }
})

test('who names no user is refused', () => {
  expect(() => actingUser(ADMIN, { 'impersonate-group': 'system:masters' }, everybody)).toThrow(
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"system:masters"}, Extra:map[string][]string(nil)} without impersonating a user name',
  )
})
