/** Privilege escalation: granting and binding roles. */
import type { Case, CaseGroup, JsonObject, RequestStep } from '../case.ts'
import { configMap, role } from '../objects.ts'
import { core, create, get, MERGE_PATCH, named, patch, read, remove, update, watch } from '../steps.ts'

const RBAC = 'rbac.authorization.k8s.io/v1'
const roles = named(RBAC, 'roles')
const bindings = named(RBAC, 'rolebindings')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `access ${name}`, steps })
/** Impersonates a user with the admin's certificate. */
const alice = { headers: { 'impersonate-user': 'alice' } }

const rule = (groups: readonly string[], resources: readonly string[], verbs: readonly string[]): JsonObject => ({
  apiGroups: [...groups],
  resources: [...resources],
  verbs: [...verbs],
})

const binding = (name: string, kind: string, of: string, user = 'alice'): JsonObject => ({
  apiVersion: RBAC,
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: of },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
})

/** The real server watches roles, so a new permission takes effect a moment later. */
const noticed = (path: string): RequestStep => get(path, { ...alice, eventually: true, pick: ['kind'] })

const manage = rule(
  ['rbac.authorization.k8s.io'],
  ['roles', 'rolebindings'],
  ['get', 'list', 'create', 'update', 'patch', 'delete'],
)

const GROUP = 'rbac.authorization.k8s.io'
const CLUSTER_ROLES = `/apis/${RBAC}/clusterroles`
const CLUSTER_BINDINGS = `/apis/${RBAC}/clusterrolebindings`
const carol = { headers: { 'impersonate-user': 'carol' } }
const clusterRole = (name: string, more: JsonObject): JsonObject => ({
  apiVersion: RBAC,
  kind: 'ClusterRole',
  metadata: { name: `{ns}-${name}` },
  ...more,
})
const gathering = (...clusterRoleSelectors: readonly JsonObject[]): JsonObject => ({
  aggregationRule: { clusterRoleSelectors: [...clusterRoleSelectors] },
})
const several = (prefix: string): readonly string[] => Array.from({ length: 10 }, (_, index) => `${prefix}${index}`)
const LARGE = rule(several('g'), several('r'), several('v'))

export const accessCases: CaseGroup = {
  name: 'access',
  cases: [
    one(
      'may be given by who has it',
      create(roles, role('mine', [manage, rule([''], ['configmaps', 'pods/log'], ['get', 'list'])])),
      create(bindings, binding('mine', 'Role', 'mine')),
      noticed(roles),
      create(roles, role('less', [rule([''], ['configmaps'], ['get'])]), alice),
      create(roles, role('named', [{ ...rule([''], ['configmaps'], ['get']), resourceNames: ['a', 'b'] }]), alice),
      create(roles, role('more', [rule([''], ['configmaps', 'secrets'], ['get', 'watch'])]), { ...alice, status: 403 }),
      create(roles, role('all', [rule(['*'], ['*'], ['*'])]), { ...alice, status: 403 }),
      patch(
        MERGE_PATCH,
        `${roles}/less`,
        { rules: [rule(['apps'], ['deployments/scale'], ['update', 'patch'])] },
        { status: 403, headers: alice.headers },
      ),
      patch(MERGE_PATCH, `${roles}/less`, { metadata: { labels: { a: 'b' } } }, { headers: alice.headers }),
      update(`${roles}/less`, role('less', [rule([''], ['configmaps'], ['list'])]), alice),
      remove(`${roles}/less`, undefined, alice),
    ),
    one(
      'to one name is enough to list and watch it by that name',
      create(core('configmaps'), configMap('a')),
      create(core('configmaps'), configMap('b')),
      create(roles, role('named', [{ ...rule([''], ['configmaps'], ['get', 'list', 'watch']), resourceNames: ['a'] }])),
      create(bindings, binding('named', 'Role', 'named')),
      noticed(core('configmaps', 'a')),
      get(core('configmaps'), { ...alice, status: 403 }),
      get(`${core('configmaps')}?fieldSelector=metadata.name%3Da`, alice),
      get(`${core('configmaps')}?fieldSelector=metadata.name%3Da,metadata.name%3Db`, alice),
      get(`${core('configmaps')}?fieldSelector=metadata.name%3Db`, { ...alice, status: 403 }),
      get(`${core('configmaps')}?fieldSelector=metadata.name!%3Da`, { ...alice, status: 403 }),
      get(`${core('configmaps')}?fieldSelector=metadata.name%3Da%2Fb`, { ...alice, status: 403 }),
      get(`${core('configmaps')}?fieldSelector=metadata.name`, { ...alice, status: 403 }),
      get('/api/v1/configmaps?fieldSelector=metadata.name%3Da', { ...alice, status: 403 }),
      get('/api/v1/namespaces?fieldSelector=metadata.name%3D{ns}', { ...alice, status: 403 }),
      remove(`${core('configmaps')}?fieldSelector=metadata.name%3Da`, undefined, { ...alice, status: 403 }),
      watch('a', `${core('configmaps')}?fieldSelector=metadata.name%3Da`, alice),
      read('a', 1),
      watch('b', `${core('configmaps')}?fieldSelector=metadata.name%3Db`, { ...alice, status: 403 }),
    ),
    one(
      'is gathered only by who has all',
      create(CLUSTER_ROLES, clusterRole('manage', { rules: [rule([GROUP], ['clusterroles'], ['get', 'create'])] })),
      create(CLUSTER_BINDINGS, {
        ...binding('{ns}', 'ClusterRole', '{ns}-manage', 'carol'),
        kind: 'ClusterRoleBinding',
      }),
      get(`${CLUSTER_ROLES}/{ns}-manage`, { ...carol, eventually: true, pick: ['kind'] }),
      create(CLUSTER_ROLES, clusterRole('a', gathering({ matchLabels: { a: '{ns}' } })), { ...carol, status: 403 }),
      create(CLUSTER_ROLES, clusterRole('a', gathering()), { ...carol, status: 422 }),
      create(CLUSTER_ROLES, clusterRole('a', gathering()), { status: 422 }),
      create(
        CLUSTER_ROLES,
        clusterRole('a', gathering({ matchExpressions: [{ key: 'a', operator: 'Is', values: ['b'] }] })),
        { status: 422 },
      ),
      create(CLUSTER_ROLES, clusterRole('a', gathering({ matchLabels: { a: '{ns}' } })), { ignore: ['rules'] }),
      ...['a', 'manage'].map((name) => remove(`${CLUSTER_ROLES}/{ns}-${name}`)),
      remove(`${CLUSTER_BINDINGS}/{ns}`),
    ),
    one(
      'of a rule with many values is compared',
      create(roles, role('mine', [manage, LARGE])),
      create(bindings, binding('mine', 'Role', 'mine')),
      noticed(roles),
      create(roles, role('same', [LARGE]), alice),
      create(roles, role('more', [{ ...LARGE, verbs: ['get', 'v3', 'patch', 'v1'] }]), { ...alice, status: 403 }),
    ),
    one(
      'may be bound by who has it',
      create(roles, role('mine', [manage, rule([''], ['configmaps'], ['get'])])),
      create(roles, role('other', [rule([''], ['secrets'], ['get'])])),
      create(roles, role('small', [rule([''], ['configmaps'], ['get'])])),
      create(bindings, binding('mine', 'Role', 'mine')),
      noticed(bindings),
      create(bindings, binding('small', 'Role', 'small', 'bob'), alice),
      create(bindings, binding('other', 'Role', 'other', 'bob'), { ...alice, status: 403 }),
      create(bindings, binding('lost', 'Role', 'none', 'bob'), { ...alice, status: 404 }),
      create(bindings, binding('lost', 'ClusterRole', '{ns}-none', 'bob'), { ...alice, status: 404 }),
    ),
    one(
      'may be bound and escalated by who may do that',
      create(roles, role('mine', [manage, rule(['rbac.authorization.k8s.io'], ['roles'], ['bind', 'escalate'])])),
      create(roles, role('other', [rule([''], ['secrets'], ['get'])])),
      create(bindings, binding('mine', 'Role', 'mine')),
      noticed(bindings),
      create(bindings, binding('other', 'Role', 'other', 'bob'), alice),
      create(roles, role('all', [rule(['*'], ['*'], ['*'])]), alice),
    ),
    one(
      'is refused without it',
      get(core('secrets'), { ...alice, status: 403 }),
      create(roles, role('a', []), { ...alice, status: 403 }),
      patch(MERGE_PATCH, `${roles}/a`, {}, { status: 403, headers: alice.headers }),
      get('/metrics', { ...alice, status: 403 }),
    ),
  ],
}
