import { expect, test } from 'vitest'
import { ANNOTATIONS, DATA } from './names.ts'
import { newClaim } from './new-claim.ts'

const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'claim-x' } }
const base = {
  id: 'x',
  namespace: 'tests',
  pool: 'chrome',
  revision: 'r1',
  parts: { open: { manifests: [manifest], returnValues: { host: 'h' } }, secret: undefined },
  handOut: undefined,
}

test('a member of a pool has the labels and the data of the contract, and neither an expiry nor a time of hand-out', () => {
  expect(newClaim(base)).toEqual({
    metadata: {
      name: 'claim-x',
      namespace: 'tests',
      labels: {
        'claim-controller.io/managed-by': 'claim-controller',
        'claim-controller.io/claim': 'claim-x',
        'claim-controller.io/claim.id': 'x',
        'claim-controller.io/pool': 'chrome',
      },
      annotations: {
        'claim-controller.io/created-by': 'claim-controller',
        'claim-controller.io/pre-provisioned': 'true',
        'claim-controller.io/template-revision': 'r1',
      },
    },
    data: {
      renderedResources: JSON.stringify([manifest]),
      returnValues: '{"host":"h"}',
      claimStatus: 'pending',
      claimStatusMessage: 'waiting for resources to be created',
      claimResourcesStatus: JSON.stringify([
        { kind: 'Pod', name: 'claim-x', namespace: 'tests', ready: false, message: 'not created yet' },
      ]),
    },
  })
})

test('a claim with values from a ConfigMap is owned by it', () => {
  const { metadata } = newClaim({ ...base, owner: { name: 'values', uid: 'u' } })
  expect(metadata?.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', name: 'values', uid: 'u' }])
})

test('the times of a hand-out are whole seconds in UTC, rounded up', () => {
  const claimedAt = Date.UTC(2026, 10, 15, 18, 13, 1, 300)
  const handOut = { claimedAt, expiresAt: claimedAt + 600_000, nonce: 'n' }
  const { data, metadata } = newClaim({ ...base, handOut })
  expect(metadata?.annotations).toMatchObject({
    [ANNOTATIONS.preProvisioned]: 'false',
    [ANNOTATIONS.claimedAt]: '2026-11-15T18:13:02Z',
    [ANNOTATIONS.expiresAt]: '2026-11-15T18:23:02Z',
  })
  expect(data?.[DATA.status]).toBe('pending')
})
