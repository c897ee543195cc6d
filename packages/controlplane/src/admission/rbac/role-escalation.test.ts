import type { KubeObject } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StatusError } from '../../errors.ts'
import { define } from '../../registry/testing/catalog.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import { Authorizer } from '../../server/auth/authorization.ts'
import { openStorage } from '../../storage/index.ts'
import { missingPermissions } from './missing-permissions.ts'
import type { StoredPolicyRule } from '../../rbac/policy-rule.ts'
import { RoleEscalation } from './role-escalation.ts'

const GROUP = 'rbac.authorization.k8s.io'
const ROLES = define({ group: GROUP, kind: 'Role' })
const BINDINGS = define({ group: GROUP, kind: 'RoleBinding' })
const jane = { name: 'jane', groups: ['devs'] }

const rule = (resource: string, ...verbs: readonly string[]): StoredPolicyRule => ({
  apiGroups: [''],
  resources: [resource],
  verbs,
})

/** Validates the write as jane, who holds these rules in the namespace `a`. */
async function validate(
  held: readonly StoredPolicyRule[],
  attributes: Pick<AdmissionAttributes, 'definition' | 'object'> & Partial<AdmissionAttributes>,
): Promise<string> {
  const storage = await openStorage({ clock: new VirtualClock(), log: silentLogger })
  const put = (bucket: string, name: string, object: object) =>
    storage.write(`${bucket}.${GROUP}`, `a/${name}`, () => ({
      put: { metadata: { name, namespace: 'a', uid: name }, ...object } as KubeObject,
    }))
  await put('roles', 'held', { rules: held })
  await put('roles', 'secrets', { rules: [rule('secrets', 'get')] })
  await put('rolebindings', 'held', {
    roleRef: { kind: 'Role', name: 'held' },
    subjects: [{ kind: 'User', name: 'jane' }],
  })
  const plugin = new RoleEscalation(storage, new Authorizer(storage))
  const options = { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' }
  try {
    await plugin.validate({
      operation: 'CREATE',
      subresource: '',
      namespace: 'a',
      name: 'new',
      oldObject: undefined,
      options,
      user: jane,
      dryRun: false,
      ...attributes,
    })
    return 'admitted'
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`
    throw error
  } finally {
    await storage.close()
  }
}

const role = (...rules: readonly StoredPolicyRule[]): KubeObject =>
  ({ kind: 'Role', metadata: { name: 'new' }, rules }) as KubeObject
const binding = (name: string): KubeObject =>
  ({ kind: 'RoleBinding', metadata: { name: 'new' }, roleRef: { kind: 'Role', name } }) as KubeObject

describe('writing a role', () => {
  test('a user cannot grant permissions that the user does not hold', async () => {
    const held = [rule('pods', 'get', 'list')]
    expect(await validate(held, { definition: ROLES, object: role(rule('pods', 'get')) })).toBe('admitted')
    expect(
      await validate(held, { definition: ROLES, object: role(rule('pods', 'get', 'watch', 'list', 'delete')) }),
    ).toBe(
      `403 roles.${GROUP} "new" is forbidden: user "jane" (groups=["devs"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}`,
    )
  })

  test('a user who may escalate and system:masters can grant anything', async () => {
    const all = role({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] })
    const held = [{ apiGroups: [GROUP], resources: ['roles'], verbs: ['escalate'] }]
    expect(await validate(held, { definition: ROLES, object: all })).toBe('admitted')
    const user = { name: 'root', groups: ['system:masters'] }
    expect(await validate([], { definition: ROLES, object: all, user })).toBe('admitted')
  })

  test('finalizers of a role can be removed without holding its permissions', async () => {
    const old = role(rule('secrets', 'get'))
    const change = (metadata: object): KubeObject => ({ ...old, metadata: { ...old.metadata, ...metadata } })
    const update = { definition: ROLES, operation: 'UPDATE', oldObject: change({ finalizers: ['a/b'] }) } as const
    expect(await validate([], { ...update, object: old })).toBe('admitted')
    expect(await validate([], { ...update, object: change({ labels: { a: 'b' } }) })).toMatch(/^403/)
  })
})

test('binding a role requires its permissions or the verb bind', async () => {
  expect(await validate([], { definition: BINDINGS, object: binding('secrets') })).toMatch(/^403 rolebindings/)
  expect(await validate([], { definition: BINDINGS, object: binding('none') })).toBe(
    `404 rolebindings.${GROUP} "none" not found`,
  )
  const held = [rule('secrets', '*')]
  expect(await validate(held, { definition: BINDINGS, object: binding('secrets') })).toBe('admitted')
  const bind = [{ apiGroups: [GROUP], resources: ['roles'], resourceNames: ['secrets'], verbs: ['bind'] }]
  expect(await validate(bind, { definition: BINDINGS, object: binding('secrets') })).toBe('admitted')
})

const LETTERS = ['a', 'b', 'c', 'd']
const has = (list: readonly string[] | undefined, one: string): boolean =>
  list?.some((each) => each === '*' || each === one) ?? false
/** True if the rules allow it in every API group. */
const allows = (rules: readonly StoredPolicyRule[], verb: string, resource: string): boolean =>
  rules.some(
    ({ verbs, resources, apiGroups }) => has(verbs, verb) && has(resources, resource) && apiGroups?.includes('*'),
  )

test('covered rules allow nothing new', () => {
  const part = fc.constantFrom('a', 'b', 'c', '*')
  const parts = fc.uniqueArray(part, { minLength: 1, maxLength: 3 })
  const rules = fc.array(fc.record({ apiGroups: parts, resources: parts, verbs: parts }), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(rules, rules, (held, wanted) => {
      expect(missingPermissions([...wanted, ...held], wanted)).toEqual([])
      expect(missingPermissions([{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], wanted)).toEqual([])

      const isCovered = missingPermissions(held, wanted).length === 0
      const asked = LETTERS.flatMap((verb) => LETTERS.map((resource) => [verb, resource] as const))
      const news = asked.filter(([verb, resource]) => allows(wanted, verb, resource) && !allows(held, verb, resource))
      expect(isCovered && news.length > 0).toBe(false)
    }),
  )
})
