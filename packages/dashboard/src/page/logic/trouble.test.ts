import { describe, expect, test } from 'vitest'
import type { RowOf } from '../data/rows.ts'
import { leasedObjectRoute, troubleOf } from './trouble.ts'

const NOW = 10_000_000
const LONG_AGO = NOW - 600_000

const application: RowOf<'applications'> = {
  id: 'default/web',
  namespace: 'default',
  name: 'web',
  phase: 'Running',
  image: 'nginx',
  replicas: 2,
  readyReplicas: 2,
  updatedReplicas: 2,
  strategy: 'RollingUpdate',
  message: '',
  createdAt: LONG_AGO,
  conditions: [],
  resourceVersion: '1',
}

describe('an application', () => {
  test('a running application is in no trouble', () => {
    expect(troubleOf.applications(application, NOW)).toBeUndefined()
  })

  test('a failed application gives its message as the reason', () => {
    const failed = { ...application, phase: 'Failed', message: 'image cannot be pulled' }
    expect(troubleOf.applications(failed, NOW)).toMatchObject({
      level: 'failed',
      reason: 'image cannot be pulled',
      href: '#/applications/default/web',
    })
  })

  test('a missing replica counts only after a minute', () => {
    const waiting = { ...application, phase: 'Pending', readyReplicas: 1 }
    expect(troubleOf.applications({ ...waiting, createdAt: NOW - 5_000 }, NOW)).toBeUndefined()
    expect(troubleOf.applications(waiting, NOW)).toMatchObject({
      level: 'waiting',
      reason: '1 of 2 replicas are ready.',
    })
  })
})

test('a claim that waits for long says what it waits for', () => {
  const claim: RowOf<'claims'> = {
    id: 'x',
    name: 'claim-x',
    namespace: 'default',
    pool: 'chrome',
    status: 'pending',
    message: '',
    isIdle: false,
    preProvisioned: false,
    createdAt: LONG_AGO,
    data: {},
    resources: [{ kind: 'Pod', name: 'p', ready: false, message: 'unschedulable' }],
  }
  expect(troubleOf.claims(claim, NOW)).toMatchObject({
    level: 'waiting',
    reason: 'Not ready after 10m: unschedulable',
  })
  expect(troubleOf.claims({ ...claim, status: 'failed', message: 'crash' }, NOW)).toMatchObject({
    level: 'failed',
    reason: 'crash',
  })
  expect(troubleOf.claims({ ...claim, status: 'ready' }, NOW)).toBeUndefined()
})

const lease: RowOf<'leases'> = {
  id: 'l',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  group: '',
  namespace: 'default',
  name: 'settings',
  ttl: '1x',
  status: 'Invalid TTL',
  createdAt: LONG_AGO,
}

test('a lease whose TTL gives no end is in trouble', () => {
  expect(troubleOf.leases(lease, NOW)).toMatchObject({ level: 'waiting', reason: 'Invalid TTL' })
  expect(troubleOf.leases({ ...lease, expiresAt: NOW + 1 }, NOW)).toBeUndefined()
  const forever = { ...lease, ttl: 'forever', status: 'Lease active. Never expires.' }
  expect(troubleOf.leases(forever, NOW)).toBeUndefined()
})

test('a leased Application leads to its own page, anything else to the page of objects', () => {
  expect(leasedObjectRoute(lease)).toBe('#/object?apiVersion=v1&kind=ConfigMap&namespace=default&name=settings')
  const leased = {
    ...lease,
    kind: 'Application',
    group: 'cloudnative.elide.dev',
    apiVersion: 'cloudnative.elide.dev/v1',
  }
  expect(leasedObjectRoute(leased)).toBe('#/applications/default/settings')
})
