import type { StatefulSet } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { adopted, hasVolumes, immutableChanges, isLegacy, liveMajor, withLiveDefaults } from './adoption.ts'
import { configFor, objectsFor } from './objects.testing.ts'

/** A StatefulSet as a chart of another program makes it. */
function legacy(overrides: Partial<NonNullable<StatefulSet['spec']>> = {}): StatefulSet {
  return {
    metadata: { name: 'shop', namespace: 'nest-team-7', labels: { chart: 'x' } },
    spec: {
      replicas: 1,
      serviceName: 'shop',
      selector: { matchLabels: { app: 'shop' } },
      template: {
        metadata: { labels: { app: 'shop', release: 'x' } },
        spec: {
          containers: [
            { name: 'exporter', image: 'exporter:1' },
            {
              name: 'pg',
              image: 'postgres:15.3',
              ports: [{ containerPort: 5432 }],
              env: [{ name: 'POSTGRES_PASSWORD', valueFrom: { secretKeyRef: { name: 'shop-secret', key: 'pw' } } }],
              resources: { limits: { memory: '3Gi' } },
            },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'pgdata' },
          spec: { resources: { requests: { storage: '20Gi' } }, storageClassName: 'slow' },
        },
      ],
      ...overrides,
    },
  }
}

const desired = objectsFor('postgresql').statefulSet

/** The object after server-side apply, as far as this test needs it: maps are merged, containers by name. */
function merged(live: StatefulSet, applied: StatefulSet): StatefulSet {
  const containers = live.spec?.template.spec?.containers.map((container) => ({
    ...container,
    ...applied.spec?.template.spec?.containers.find(({ name }) => name === container.name),
  }))
  const { template: _, ...spec } = applied.spec ?? { template: {} }
  return {
    ...live,
    spec: {
      selector: {},
      ...live.spec,
      ...spec,
      template: { ...live.spec?.template, spec: { ...live.spec?.template.spec, containers: containers ?? [] } },
    },
  }
}

function adopt(live: StatefulSet, values: object = {}) {
  const config = withLiveDefaults(configFor('postgresql', { ...values }), live)
  const adoption = adopted(live, desired, config)
  if ('refused' in adoption) throw new Error(adoption.refused)
  return adoption
}

test('the pods of an adopted StatefulSet do not restart, and what the API server cannot change stays', () => {
  const live = legacy()
  const { statefulSet } = adopt(live)
  const after = merged(live, statefulSet)
  expect(after.spec).toEqual(live.spec)
  expect(statefulSet.metadata).toEqual({
    name: 'shop',
    namespace: 'nest-team-7',
    labels: { app: 'shop', 'managed-by': 'nest-controller', 'resource-id': '42' },
  })
  expect(immutableChanges(live, after)).toEqual([])
})

test('an adopted StatefulSet keeps its Secret and its Service', () => {
  expect(adopt(legacy())).toMatchObject({ secretName: 'shop-secret', serviceName: 'shop', warnings: [] })
})

test('only a change that the row asks for reaches the pods', () => {
  const { statefulSet } = adopt(legacy(), { image: 'postgres:15.8', memory_limit: '4Gi', replicas: 0 })
  expect(statefulSet.spec?.replicas).toBe(0)
  expect(statefulSet.spec?.template).toEqual({
    spec: { containers: [{ name: 'pg', image: 'postgres:15.8', resources: { limits: { memory: '4Gi' } } }] },
  })
})

test('a value whose key the row no longer has stays, so pods do not restart', () => {
  const first = adopt(legacy(), { cpu_request: '200m', memory_limit: '4Gi' })
  const resources = { requests: { cpu: '200m' }, limits: { memory: '4Gi' } }
  expect(first.statefulSet.spec?.template.spec?.containers[0]).toMatchObject({ resources })
  const owned = { 'f:requests': { 'f:cpu': {} }, 'f:limits': { 'f:memory': {} } }
  const fieldsV1 = {
    'f:spec': {
      'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"pg"}': { '.': {}, 'f:resources': owned } } } },
    },
  }
  const live = merged(legacy(), first.statefulSet)
  const after = adopt(
    {
      ...live,
      metadata: { ...live.metadata, managedFields: [{ manager: 'nest-controller', operation: 'Apply', fieldsV1 }] },
    },
    { memory_limit: '5Gi' },
  )
  expect(after.statefulSet.spec?.template.spec?.containers[0]).toMatchObject({
    resources: { requests: { cpu: '200m' }, limits: { memory: '5Gi' } },
  })
})

test('keys without effect are warnings', () => {
  expect(adopt(legacy(), { settings: { work_mem: '8MB' }, storage_class: 'fast' }).warnings).toHaveLength(2)
})

test('a legacy StatefulSet without volumes is refused', () => {
  const live = legacy({ volumeClaimTemplates: [] })
  expect(hasVolumes(live)).toBe(false)
  expect(adopted(live, desired, configFor('postgresql'))).toEqual({ refused: expect.stringContaining('has no volume') })
})

const withVolume = (volume: object): StatefulSet =>
  legacy({ volumeClaimTemplates: [], template: { spec: { containers: [], volumes: [{ name: 'v', ...volume }] } } })

test('a claim that the pod names itself is a volume, and an empty directory is not', () => {
  expect(hasVolumes(withVolume({ persistentVolumeClaim: { claimName: 'c' } }))).toBe(true)
  expect(hasVolumes(withVolume({ hostPath: { path: '/srv' } }))).toBe(true)
  expect(hasVolumes(withVolume({ emptyDir: {} }))).toBe(false)
})

test("the operator's own StatefulSet is not a legacy one, whatever its labels", () => {
  expect(isLegacy(legacy())).toBe(true)
  expect(isLegacy({ ...legacy(), metadata: { labels: { 'managed-by': 'nest-controller' } } })).toBe(true)
  expect(isLegacy({ ...desired, metadata: { name: 'shop' } })).toBe(false)
})

test('a default does not change the version or the volume of a running database', () => {
  const kept = withLiveDefaults(configFor('postgresql'), legacy())
  expect(kept).toMatchObject({ image: 'postgres:15.3', major: '15', storageSize: '20Gi', storageClass: 'slow' })
  const named = withLiveDefaults(configFor('postgresql', { version: 17, storage_size: '30Gi' }), legacy())
  expect(named).toMatchObject({ image: 'postgres:17-alpine', major: '17', storageSize: '30Gi' })
})

test('drift of the image within the default version is repaired', () => {
  const live = objectsFor('postgresql', { image: 'postgres:16.1-alpine' }).statefulSet
  expect(withLiveDefaults(configFor('postgresql'), live).image).toBe('postgres:16-alpine')
  const older = objectsFor('postgresql', { image: 'postgres:14-alpine' }).statefulSet
  expect(withLiveDefaults(configFor('postgresql'), older)).toMatchObject({ image: 'postgres:14-alpine', major: '14' })
})

test('the version of an image without a tag is in the annotation', () => {
  const image = `postgres@sha256:${'a'.repeat(64)}`
  const live = objectsFor('postgresql', { image, version: '17' }).statefulSet
  expect(liveMajor(live, { engine: 'postgresql' })).toBe('17')
  expect(liveMajor(legacy(), { engine: 'postgresql' })).toBe('15')
})

test('every field that the API server refuses to change is named', () => {
  const own = objectsFor('postgresql', { storage_class: 'fast' }).statefulSet
  const other = legacy({
    selector: { matchLabels: { app: 'other' } },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteMany'] } }],
  })
  expect(immutableChanges(other, own)).toEqual([
    'selector cannot change from {"matchLabels":{"app":"other"}} to {"matchLabels":{"app":"shop"}}.',
    'serviceName cannot change from "shop" to "shop-headless".',
    'podManagementPolicy cannot change from "OrderedReady" to "Parallel".',
    'storage_class of data cannot change from the default to "fast".',
    'access modes of data cannot change from ["ReadWriteMany"] to ["ReadWriteOnce"].',
  ])
  expect(immutableChanges(legacy(), own)).toContain('volumeClaimTemplates cannot change from ["pgdata"] to ["data"].')
})

test('another size is not an immutable change', () => {
  const [small, large] = ['1Gi', '2Gi'].map((storage_size) => objectsFor('redis', { storage_size }).statefulSet)
  expect(small && large && immutableChanges(small, large)).toEqual([])
})
