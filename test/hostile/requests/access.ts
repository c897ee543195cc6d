import { type HostileRequest, CORE, many, keys, json, post } from './request.ts'

/** Roles, bindings, reviews and tokens. */
export function accessRequests(): HostileRequest[] {
  return [
    post(
      'a Role with hundreds of groups, resources and verbs in one rule',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/roles',
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
    post(
      'a Role of 20,000 rules',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/roles',
      json({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r2' },
        rules: many(20_000, (i) => ({ apiGroups: [`g${i}`], resources: ['*'], verbs: ['get', 'escalate'] })),
      }),
    ),
    post(
      'a binding of 30,000 subjects',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/rolebindings',
      json({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: many(30_000, (i) => ({ kind: 'User', name: `u${i}`, apiGroup: 'rbac.authorization.k8s.io' })),
      }),
    ),
    post(
      'a review with many groups',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      json({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'u',
          groups: many(200_000, (i) => `g${i}`),
          resourceAttributes: { verb: 'get', resource: 'pods' },
        },
      }),
    ),
    post(
      'a review with a large extra',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      json({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: 'u', extra: keys(50_000, ['a']), resourceAttributes: { verb: 'get', resource: 'pods' } },
      }),
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
    post(
      'a token for many audiences',
      `${CORE}/serviceaccounts/default/token`,
      json({ spec: { audiences: many(100_000, (i) => `a${i}`) } }),
    ),
  ]
}
