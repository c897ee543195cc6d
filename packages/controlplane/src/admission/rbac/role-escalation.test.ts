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
import { missingPermissions, quotedList } from './missing-permissions.ts'
import { ruleCovers, type StoredPolicyRule } from '../../rbac/policy-rule.ts'
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

  test('an aggregation rule requires every permission', async () => {
    const definition = define({ group: GROUP, kind: 'ClusterRole' })
    const aggregated = { ...role(), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
    const held = [rule('pods', 'get')]
    const refused = `403 clusterroles.${GROUP} "new" is forbidden: must have cluster-admin privileges to use the aggregationRule`
    expect(await validate(held, { definition, object: role() })).toBe('admitted')
    expect(await validate(held, { definition, object: aggregated })).toBe(refused)
    expect(await validate(held, { definition, operation: 'UPDATE', object: role(), oldObject: aggregated })).toBe(
      refused,
    )
    const escalate = [{ apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['escalate'] }]
    expect(await validate(escalate, { definition, namespace: 'a', object: aggregated })).toBe('admitted')
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

const many = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

describe('a rule that stands for millions of permissions', () => {
  const huge: StoredPolicyRule = { apiGroups: many('g', 250), resources: many('r', 250), verbs: many('v', 250) }

  test('it is refused with a message of bounded length', async () => {
    const held = [rule('pods', 'get')]
    const refused = await validate(held, { definition: ROLES, object: role(huge) })
    expect(refused).toMatch(/^403 /)
    expect(refused).toContain('{APIGroups:["g0"], Resources:["r0"], Verbs:["v0" "v1" ')
    expect(refused).toMatch(/\(the list is not complete\)$/)
    expect(refused.length).toBeLessThan(100_000)
  })

  test('it is admitted if several held rules grant it together', async () => {
    const [first, second] = [huge.verbs?.slice(0, 100) ?? [], huge.verbs?.slice(100) ?? []]
    const held = [
      { ...huge, verbs: first },
      { ...huge, verbs: second },
    ]
    expect(await validate(held, { definition: ROLES, object: role(huge) })).toBe('admitted')
    const less = [
      { ...huge, verbs: first },
      { ...huge, verbs: second.slice(1) },
    ]
    expect(await validate(less, { definition: ROLES, object: role(huge) })).toContain(
      '{APIGroups:["g0"], Resources:["r0"], Verbs:["v100"]}',
    )
  })

  test('many rules for one name each are admitted to a user who holds them', async () => {
    const held = many('n', 5000).map((name) => ({ ...rule('pods', 'get'), resourceNames: [name] }))
    expect(await validate(held, { definition: ROLES, object: role(...held) })).toBe('admitted')
    const more = { ...rule('pods', 'get'), resourceNames: ['other'] }
    expect(await validate(held, { definition: ROLES, object: role(more) })).toContain('ResourceNames:["other"]')
  })

  test('it is refused if the held rules divide it in too many ways', async () => {
    const held = many('', 250).map((_, index) => ({
      apiGroups: huge.apiGroups?.slice(index) ?? [],
      resources: huge.resources?.slice(0, 250 - index) ?? [],
      verbs: huge.verbs?.slice(0, 1 + ((index * 7) % 250)) ?? [],
    }))
    expect(await validate(held, { definition: ROLES, object: role(huge) })).toMatch(/^403 /)
  })
})

const LETTERS = ['a', 'b', 'c', 'd']
const has = (list: readonly string[] | undefined, one: string): boolean =>
  list?.some((each) => each === '*' || each === one) ?? false
/** True if the rules allow it in every API group. */
const allows = (rules: readonly StoredPolicyRule[], verb: string, resource: string): boolean =>
  rules.some(
    ({ verbs, resources, apiGroups }) => has(verbs, verb) && has(resources, resource) && apiGroups?.includes('*'),
  )

const part = fc.constantFrom('a', 'b', 'c', '*')
const partsOf = (values: fc.Arbitrary<string>) => fc.uniqueArray(values, { minLength: 1, maxLength: 3 })
const anyRules: fc.Arbitrary<readonly StoredPolicyRule[]> = fc.array(
  fc.oneof(
    fc.record({
      apiGroups: partsOf(part),
      resources: partsOf(fc.constantFrom('a', 'b/x', '*/x', '*')),
      verbs: partsOf(part),
      resourceNames: fc.uniqueArray(part, { maxLength: 2 }),
    }),
    fc.record({ nonResourceURLs: partsOf(fc.constantFrom('/a', '/a/b', '/a*', '/a/*', '*')), verbs: partsOf(part) }),
  ),
  { maxLength: 4 },
)

/** The comparison of kube-apiserver: one permission at a time. */
function eachMissing(held: readonly StoredPolicyRule[], wanted: readonly StoredPolicyRule[]): readonly string[] {
  const verbs = new Map<string, string[]>()
  const lines: string[] = []
  for (const one of wanted) {
    const names = one.resourceNames?.length ? one.resourceNames : [undefined]
    for (const verb of one.verbs ?? []) {
      for (const path of one.nonResourceURLs ?? []) {
        if (!held.some((rule) => ruleCovers(rule, { verb, path }))) {
          lines.push(`{NonResourceURLs:${quotedList([path])}, Verbs:${quotedList([verb])}}`)
        }
      }
      for (const apiGroup of one.apiGroups ?? []) {
        for (const resource of one.resources ?? []) {
          for (const name of names) {
            if (held.some((rule) => ruleCovers(rule, { verb, resource: { apiGroup, resource, name } }))) continue
            const named = name === undefined ? '' : `, ResourceNames:${quotedList([name])}`
            const key = `APIGroups:${quotedList([apiGroup])}, Resources:${quotedList([resource])}${named}`
            verbs.set(key, [...(verbs.get(key) ?? []), verb])
          }
        }
      }
    }
  }
  lines.push(...[...verbs].map(([key, all]) => `{${key}, Verbs:${quotedList(all)}}`))
  return [...new Set(lines)].toSorted()
}

test('rules are compared as if each permission were compared by itself', () => {
  fc.assert(
    fc.property(anyRules, anyRules, (held, wanted) => {
      expect(missingPermissions(held, wanted)).toEqual(eachMissing(held, wanted))
    }),
    { numRuns: 500 },
  )
})

test('covered rules allow nothing new', () => {
  const parts = partsOf(part)
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
