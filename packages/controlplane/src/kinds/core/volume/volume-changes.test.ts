import { expect, test } from 'vitest'

import { validateClaimChange, validateVolumeChange } from './volume-changes.ts'

const fields = (errors: readonly { readonly field: string }[]): readonly string[] => errors.map(({ field }) => field)

const claim = (storage: string, phase: string): Record<string, unknown> => ({
  spec: { resources: { requests: { storage } } },
  status: { phase, capacity: { storage: '2Gi' } },
})
const volume = (key: string): Record<string, unknown> => ({
  accessModes: ['ReadWriteOnce'],
  capacity: { storage: '1Gi' },
  csi: { driver: 'example.com', volumeHandle: 'a' },
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] } },
})

// Not recorded: on a cluster a controller changes such a claim at once.
test('only a bound claim may grow, and no claim may shrink', () => {
  expect(validateClaimChange(claim('3Gi', 'Bound'), claim('2Gi', 'Bound'))).toEqual([])
  expect(fields(validateClaimChange(claim('3Gi', 'Pending'), claim('2Gi', 'Pending')))).toEqual(['spec'])
  const shrunk = validateClaimChange(claim('1Gi', 'Bound'), claim('2Gi', 'Bound'))
  expect(fields(shrunk)).toEqual(['spec.resources.requests.storage'])
})

test('the class of a claim may move from its annotation to its field', () => {
  const annotations = { 'volume.beta.kubernetes.io/storage-class': 'slow' }
  const old = { metadata: { annotations }, spec: {} }
  expect(validateClaimChange({ metadata: {}, spec: { storageClassName: 'slow' } }, old)).toEqual([])
  const other = validateClaimChange({ metadata: {}, spec: { storageClassName: 'fast' } }, old)
  expect(fields(other)).toEqual(['metadata.annotations.volume.beta.kubernetes.io/storage-class', 'spec'])
})

test('deprecated labels in node affinity may be replaced by their successors', () => {
  const old = volume('failure-domain.beta.kubernetes.io/zone')
  expect(validateVolumeChange(volume('topology.kubernetes.io/zone'), old)).toEqual([])
  expect(fields(validateVolumeChange(volume('kubernetes.io/os'), old))).toEqual(['nodeAffinity'])
})
