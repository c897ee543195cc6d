import type { PersistentVolumeClaim } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { configFor, objectsFor } from './objects.testing.ts'
import { storagePlan } from './storage-plan.ts'

function claim(name: string, storage: string, phase: 'Bound' | 'Pending' = 'Bound'): PersistentVolumeClaim {
  return { metadata: { name }, spec: { resources: { requests: { storage } } }, status: { phase } }
}

const running = objectsFor('redis', { replicas: 2, storage_size: '1Gi' }).statefulSet
const wanted = (storage_size: string) => configFor('redis', { storage_size })

test('equal sizes need nothing, however they are written', () => {
  const plan = storagePlan(running, [claim('data-shop-0', '1Gi'), claim('data-shop-1', '1024Mi')], wanted('1024Mi'))
  expect(plan).toEqual({ grow: [], unbound: [], recreate: false })
})

test('claims grow in the order of their pods, also those of pods that were scaled away', () => {
  const claims = [claim('data-shop-10', '1Gi'), claim('data-shop-2', '1Gi'), claim('data-shop-0', '1Gi')]
  expect(storagePlan(running, claims, wanted('2Gi'))).toEqual({
    grow: ['data-shop-0', 'data-shop-2', 'data-shop-10'].map((name) => ({ name, from: '1Gi', to: '2Gi' })),
    unbound: [],
    recreate: true,
  })
})

test('claims of other databases are left alone', () => {
  const claims = ['data-shop-x-0', 'data-shop', 'data-shop-', 'data-shop-1a', 'other-shop-0', 'data-shop-0-0']
  const plan = storagePlan(
    running,
    claims.map((name) => claim(name, '1Gi')),
    wanted('2Gi'),
  )
  expect(plan).toMatchObject({ grow: [] })
})

test('after a crash the plan continues: grown claims are done and the template is left', () => {
  const claims = [claim('data-shop-0', '2Gi'), claim('data-shop-1', '1Gi')]
  expect(storagePlan(running, claims, wanted('2Gi'))).toMatchObject({ grow: [{ name: 'data-shop-1' }], recreate: true })
  const recreated = objectsFor('redis', { storage_size: '2Gi' }).statefulSet
  expect(storagePlan(recreated, claims, wanted('2Gi'))).toMatchObject({
    grow: [{ name: 'data-shop-1' }],
    recreate: false,
  })
})

test('a smaller size is refused with both sizes', () => {
  expect(storagePlan(running, [], wanted('512Mi'))).toEqual({
    refused: 'A volume cannot shrink: set storage_size to 1Gi or more, not 512Mi.',
  })
})

test('a claim that a person enlarged stays', () => {
  expect(storagePlan(running, [claim('data-shop-0', '5Gi')], wanted('2Gi'))).toMatchObject({ grow: [], recreate: true })
})

test('a claim without a volume waits', () => {
  const plan = storagePlan(running, [claim('data-shop-0', '1Gi', 'Pending')], wanted('2Gi'))
  expect(plan).toMatchObject({ grow: [], unbound: ['data-shop-0'] })
})

test('a claim that is being deleted is left out', () => {
  const deleted = claim('data-shop-0', '1Gi')
  const claims = [{ ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }]
  expect(storagePlan(running, claims, wanted('2Gi'))).toMatchObject({ grow: [], unbound: [] })
})

test('without storage_size the volumes stay as they are', () => {
  const large = objectsFor('redis', { storage_size: '9Gi' }).statefulSet
  expect(storagePlan(large, [claim('data-shop-0', '9Gi')], configFor('redis'))).toEqual({
    grow: [],
    unbound: [],
    recreate: false,
  })
})

test('a StatefulSet without a template for the data refuses a size', () => {
  const bare = { ...running, spec: { selector: {}, template: {} } }
  expect(storagePlan(bare, [], wanted('2Gi'))).toHaveProperty('refused')
})
