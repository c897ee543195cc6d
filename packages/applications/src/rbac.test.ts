import type { PolicyRule } from '@tenure/runtime'
import { describe, expect, test } from 'vitest'
import { applicationsConfig } from './config.ts'
import { clusterRules, namespaceRules, workloadRules } from './rbac.ts'

/** `create secrets`, `get leases/status elide-operator-leader`: one per permission. */
function permissionsIn(rules: readonly PolicyRule[]): readonly string[] {
  return rules.flatMap(({ resources = [], resourceNames = [''], verbs }) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource} ${name}`.trim())),
    ),
  )
}

const everything = () => [...clusterRules({ createNamespaces: true }), ...namespaceRules()]

test('no rule has a wildcard', () => {
  for (const { apiGroups, resources, resourceNames, verbs } of everything()) {
    const words = [...(apiGroups ?? []), ...(resources ?? []), ...(resourceNames ?? []), ...verbs]
    expect(words).not.toContain('*')
    expect(verbs.length).toBeGreaterThan(0)
  }
  expect(new Set(permissionsIn(everything())).size).toBe(permissionsIn(everything()).length)
})

test('secrets are accessible in the own namespace only, and only by name', () => {
  expect(
    permissionsIn(clusterRules({ createNamespaces: true })).filter((permission) => permission.includes('secrets')),
  ).toEqual([])
  const secret = applicationsConfig.webhookSecret.default
  expect(permissionsIn(namespaceRules()).filter((permission) => permission.includes('secrets'))).toEqual([
    'create secrets',
    ...['get', 'list', 'watch', 'update'].map((verb) => `${verb} secrets ${secret}`),
  ])
})

describe('settings that are off grant nothing', () => {
  test.each([
    ['installDefinitions', 'create customresourcedefinitions applications.cloudnative.elide.dev'],
    ['webhooks', 'create validatingwebhookconfigurations elide-operator'],
    ['webhooks', 'create mutatingwebhookconfigurations elide-operator'],
    ['tokens', 'create tokenreviews'],
    ['tokens', 'create subjectaccessreviews'],
    ['createNamespaces', 'create namespaces'],
  ] as const)('the setting %s controls the permission %s', (setting, permission) => {
    expect(permissionsIn(clusterRules({ [setting]: true }))).toContain(permission)
    expect(permissionsIn(clusterRules({ [setting]: false }))).not.toContain(permission)
  })

  test('an operator without leader election may not access Leases', () => {
    expect(permissionsIn(namespaceRules())).toEqual(
      expect.arrayContaining(['create leases', 'get leases elide-operator-leader']),
    )
    expect(permissionsIn(namespaceRules({ enableLeaderElection: false })).join()).not.toContain('leases')
  })

  test('an operator without a shared certificate may not access Secrets', () => {
    expect(permissionsIn(namespaceRules({ webhooks: false })).join()).not.toContain('secrets')
    expect(permissionsIn(namespaceRules({ webhookSecret: undefined })).join()).not.toContain('secrets')
    expect(permissionsIn(namespaceRules({ webhookSecret: 'mine' }))).toContain('get secrets mine')
  })

  test('an operator of one namespace has no workload rules in its ClusterRole', () => {
    const everywhere = permissionsIn(clusterRules({ oneNamespace: true }))
    for (const permission of permissionsIn(workloadRules())) {
      expect(permissionsIn(clusterRules())).toContain(permission)
      expect(everywhere).not.toContain(permission)
    }
  })
})
