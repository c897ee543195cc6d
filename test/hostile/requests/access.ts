import { type HostileRequest, CORE, many, keys, json, unique, object, post, large, largest, short } from './request.ts'

const RBAC_VERSION = 'rbac.authorization.k8s.io/v1'
const RBAC = `/apis/${RBAC_VERSION}/namespaces/hostile`
const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

/** Roles, bindings, reviews and tokens. */
export function accessRequests(): HostileRequest[] {
  return [
    post(
      'a Role with hundreds of groups, resources and verbs in one rule',
      `${RBAC}/roles`,
      json({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r1' },
        rules: [
          {
            apiGroups: many(250, (i) => `g${i}`),
            resources: many(250, (i) => `r${i}`),
            verbs: many(250, (i) => `v${i}`),
          },
        ],
      }),
    ),
    ...large('a Role with many rules', `${RBAC}/roles`, (count) =>
      object(
        'Role',
        unique(),
        { rules: many(count, (i) => ({ apiGroups: [short(i)], resources: ['*'], verbs: ['get', 'escalate'] })) },
        RBAC_VERSION,
      ),
    ),
    ...large('a Role with many groups in one rule', `${RBAC}/roles`, (count) =>
      object(
        'Role',
        unique(),
        { rules: [{ apiGroups: many(count, short), resources: many(count, short), verbs: many(count, short) }] },
        RBAC_VERSION,
      ),
    ),
    ...large('a binding with many subjects', `${RBAC}/rolebindings`, (count) =>
      object(
        'RoleBinding',
        unique(),
        {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
          subjects: many(count, (i) => ({ kind: 'User', name: short(i), apiGroup: 'rbac.authorization.k8s.io' })),
        },
        RBAC_VERSION,
      ),
    ),
    ...largest('a review with many groups', REVIEWS, (count) =>
      object(
        'SubjectAccessReview',
        '',
        { spec: { user: 'u', groups: many(count, short), resourceAttributes: { verb: 'get', resource: 'pods' } } },
        'authorization.k8s.io/v1',
      ),
    ),
    ...largest('a review with a large extra', REVIEWS, (count) =>
      object(
        'SubjectAccessReview',
        '',
        { spec: { user: 'u', extra: keys(count, ['a']), resourceAttributes: { verb: 'get', resource: 'pods' } } },
        'authorization.k8s.io/v1',
      ),
    ),
    post(
      'a review of a long token',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      json({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: `${'a'.repeat(1_000_000)}.${'b'.repeat(1_000_000)}.c` },
      }),
    ),
    ...largest('a token for many audiences', `${CORE}/serviceaccounts/default/token`, (count) =>
      json({ spec: { audiences: many(count, short) } }),
    ),
  ]
}
