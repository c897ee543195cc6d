import { describe, expect, test } from 'vitest'
import { deniedAccessIn, isAdmissionDenial } from './forbidden.ts'

describe('the message of a 403', () => {
  test.each([
    [
      'deployments.apps is forbidden: User "alice" cannot list resource "deployments" in API group "apps" in the namespace "web"',
      { user: 'alice', verb: 'list', resource: 'deployments', group: 'apps', namespace: 'web', path: undefined },
    ],
    [
      'nodes is forbidden: User "bob" cannot watch resource "nodes" in API group "" at the cluster scope',
      { user: 'bob', verb: 'watch', resource: 'nodes', group: '', namespace: undefined, path: undefined },
    ],
    [
      'forbidden: User "x" cannot get path "/apis"',
      { user: 'x', verb: 'get', resource: undefined, group: undefined, namespace: undefined, path: '/apis' },
    ],
  ])('the denied access is read from %j', (message, access) => {
    expect(deniedAccessIn(message)).toEqual(access)
    expect(isAdmissionDenial(message)).toBe(false)
  })

  test.each([
    'pods "x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1',
    'admission webhook "guard.example.dev" denied the request: not on a Monday',
  ])('an admission denial names no access: %j', (message) => {
    expect(deniedAccessIn(message)).toBeUndefined()
    expect(isAdmissionDenial(message)).toBe(true)
  })
})
