import type { KubeObject } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StatusError } from '../../errors.ts'
import { define } from '../../registry/catalog.testing.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import { Authorizer } from '../../server/authorization.ts'
import { openStorage } from '../../storage/index.ts'
import { missingRights } from './policy-rules.ts'
import type { PolicyRule } from './policy-rules.ts'
import { RoleEscalation } from './role-escalation.ts'

const GROUP = 'rbac.authorization.k8s.io'
const ROLES = define({ group: GROUP, kind: 'Role' })
const BINDINGS = define({ group: GROUP, kind: 'RoleBinding' })
const jane = { name: 'jane', groups: ['devs'] }

const rule = (resource: string, ...verbs: readonly string[]): PolicyRule => ({
  apiGroups: [''],
  resources: [resource],
  verbs,
})

/** With these rules for jane in the namespace `a`, is the object admitted? */
async function verdict(
  held: readonly PolicyRule[],
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

const role = (...rules: readonly PolicyRule[]): KubeObject =>
  ({ kind: 'Role', metadata: { name: 'new' }, rules }) as KubeObject
const binding = (name: string): KubeObject =>
  ({ kind: 'RoleBinding', metadata: { name: 'new' }, roleRef: { kind: 'Role', name } }) as KubeObject

describe('a role', () => {
  test('holds what its writer holds, and not more', async () => {
    const held = [rule('pods', 'get', 'list')]
    expect(await verdict(held, { definition: ROLES, object: role(rule('pods', 'get')) })).toBe('admitted')
    expect(
      await verdict(held, { definition: ROLES, object: role(rule('pods', 'get', 'watch', 'list', 'delete')) }),
    ).toBe(
      `403 roles.${GROUP} "new" is forbidden: user "jane" (groups=["devs"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}`,
    )
  })

  test('may be anything for who may escalate, and for the system', async () => {
    const all = role({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] })
    const held = [{ apiGroups: [GROUP], resources: ['roles'], verbs: ['escalate'] }]
    expect(await verdict(held, { definition: ROLES, object: all })).toBe('admitted')
    const user = { name: 'root', groups: ['system:masters'] }
    expect(await verdict([], { definition: ROLES, object: all, user })).toBe('admitted')
  })

  test('that holds too much already can still be released', async () => {
    const old = role(rule('secrets', 'get'))
    const change = (metadata: object): KubeObject => ({ ...old, metadata: { ...old.metadata, ...metadata } })
    const update = { definition: ROLES, operation: 'UPDATE', oldObject: change({ finalizers: ['a/b'] }) } as const
    expect(await verdict([], { ...update, object: old })).toBe('admitted')
    expect(await verdict([], { ...update, object: change({ labels: { a: 'b' } }) })).toMatch(/^403/)
  })
})

test('a role is bound by who holds its rights, or may bind it', async () => {
  expect(await verdict([], { definition: BINDINGS, object: binding('secrets') })).toMatch(/^403 rolebindings/)
  expect(await verdict([], { definition: BINDINGS, object: binding('none') })).toBe(
    `404 rolebindings.${GROUP} "none" not found`,
  )
  const held = [rule('secrets', '*')]
  expect(await verdict(held, { definition: BINDINGS, object: binding('secrets') })).toBe('admitted')
  const bind = [{ apiGroups: [GROUP], resources: ['roles'], resourceNames: ['secrets'], verbs: ['bind'] }]
  expect(await verdict(bind, { definition: BINDINGS, object: binding('secrets') })).toBe('admitted')
})

const LETTERS = ['a', 'b', 'c', 'd']
const has = (list: readonly string[] | undefined, one: string): boolean =>
  list?.some((each) => each === '*' || each === one) ?? false
/** In every group. */
const allows = (rules: readonly PolicyRule[], verb: string, resource: string): boolean =>
  rules.some(
    ({ verbs, resources, apiGroups }) => has(verbs, verb) && has(resources, resource) && apiGroups?.includes('*'),
  )

test('rules cover what is a part of them, and nothing covers more than itself', () => {
  const part = fc.constantFrom('a', 'b', 'c', '*')
  const parts = fc.uniqueArray(part, { minLength: 1, maxLength: 3 })
  const rules = fc.array(fc.record({ apiGroups: parts, resources: parts, verbs: parts }), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(rules, rules, (held, wanted) => {
      expect(missingRights([...wanted, ...held], wanted)).toEqual([])
      expect(missingRights([{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], wanted)).toEqual([])
      // What is covered allows nothing new.
      const isCovered = missingRights(held, wanted).length === 0
      const asked = LETTERS.flatMap((verb) => LETTERS.map((resource) => [verb, resource] as const))
      const news = asked.filter(([verb, resource]) => allows(wanted, verb, resource) && !allows(held, verb, resource))
      expect(isCovered && news.length > 0).toBe(false)
    }),
  )
})
