import { describe, expect, test } from 'vitest'
import { applicationsTable } from './config.ts'
import { clusterRules, homeRules, type PolicyRule, workloadRules } from './rbac.ts'

/** `create secrets`, `get leases/status elide-operator-leader`: every single right. */
function rightsIn(rules: readonly PolicyRule[]): readonly string[] {
  return rules.flatMap(({ resources = [], resourceNames = [''], verbs }) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource} ${name}`.trim())),
    ),
  )
}

const everything = () => [...clusterRules({ createNamespaces: true }), ...homeRules()]

test('nothing is granted at large', () => {
  for (const { apiGroups, resources, resourceNames, verbs } of everything()) {
    const words = [...(apiGroups ?? []), ...(resources ?? []), ...(resourceNames ?? []), ...verbs]
    expect(words).not.toContain('*')
    expect(verbs.length).toBeGreaterThan(0)
  }
  expect(new Set(rightsIn(everything())).size).toBe(rightsIn(everything()).length)
})

test('secrets are touched at home only, and there only our own', () => {
  expect(rightsIn(clusterRules({ createNamespaces: true })).filter((right) => right.includes('secrets'))).toEqual([])
  const secret = applicationsTable.webhookSecret.default
  expect(rightsIn(homeRules()).filter((right) => right.includes('secrets'))).toEqual([
    'create secrets',
    ...['get', 'list', 'watch', 'update'].map((verb) => `${verb} secrets ${secret}`),
  ])
})

describe('what is not asked of it is not granted', () => {
  test.each([
    ['installDefinitions', 'create customresourcedefinitions applications.cloudnative.elide.dev'],
    ['webhooks', 'create validatingwebhookconfigurations elide-operator'],
    ['webhooks', 'create mutatingwebhookconfigurations elide-operator'],
    ['tokens', 'create tokenreviews'],
    ['tokens', 'create subjectaccessreviews'],
    ['createNamespaces', 'create namespaces'],
  ] as const)('without %s there is no %s', (setting, right) => {
    expect(rightsIn(clusterRules({ [setting]: true }))).toContain(right)
    expect(rightsIn(clusterRules({ [setting]: false }))).not.toContain(right)
  })

  test('who does not stand for election has no Lease', () => {
    expect(rightsIn(homeRules())).toEqual(expect.arrayContaining(['create leases', 'get leases elide-operator-leader']))
    expect(rightsIn(homeRules({ enableLeaderElection: false })).join()).not.toContain('leases')
  })

  test('who shares no certificate has no Secret', () => {
    expect(rightsIn(homeRules({ webhooks: false })).join()).not.toContain('secrets')
    expect(rightsIn(homeRules({ webhookSecret: undefined })).join()).not.toContain('secrets')
    expect(rightsIn(homeRules({ webhookSecret: 'mine' }))).toContain('get secrets mine')
  })

  test('who looks after one namespace works nowhere else', () => {
    const everywhere = rightsIn(clusterRules({ oneNamespace: true }))
    for (const right of rightsIn(workloadRules())) {
      expect(rightsIn(clusterRules())).toContain(right)
      expect(everywhere).not.toContain(right)
    }
  })
})
