import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LeaseHarness, SEED, withJob } from '../../testing/lease-harness.ts'

let harness: LeaseHarness
beforeEach(async () => {
  harness = await LeaseHarness.create()
})
afterEach(() => harness.stop())

const FOLLOWED = { [`${SEED}ttl`]: '60s', [`${SEED}renew-on`]: 'update' }

/** Changes the spec, as a deployment does. */
function update(): void {
  const web = harness.server.peek(Deployment, { name: 'web', namespace: 'shop' })
  if (!web?.spec) throw new Error('web does not exist')
  harness.server.seed(Deployment, { ...web, spec: { ...web.spec, replicas: (web.spec.replicas ?? 1) + 1 } })
}

const writes = (): number => harness.requests('patch', 'deployments').length
const web = () => harness.object('web', Deployment)

test('a Deployment lives while it is updated, with one write per update, and then expires', async () => {
  await harness.start({ kind: Deployment })
  harness.create('web', FOLLOWED, Deployment)
  await harness.clock.advance(1_000)
  expect(writes()).toBe(1)
  for (let count = 0; count < 5; count++) {
    await harness.clock.advance(50_000)
    update()
    await harness.clock.advance(1_000)
    expect(writes()).toBe(2 + count)
  }
  await harness.clock.advance(58_000)
  expect(web()).toBeDefined()
  await harness.clock.advance(3_000)
  expect(web()).toBeUndefined()
  expect(writes()).toBe(6)
})

test('an update while no controller runs renews the lease', async () => {
  harness.create('web', FOLLOWED, Deployment)
  const before = await harness.start({ kind: Deployment })
  await harness.clock.advance(1_000)
  before.kill()
  await harness.clock.advance(30_000)
  update()
  await harness.clock.advance(3_600_000)
  await harness.start({ kind: Deployment })
  await harness.clock.advance(55_000)
  expect(web()).toBeDefined()
  await harness.clock.advance(10_000)
  expect(web()).toBeUndefined()
})

test('the writes of a cleanup do not renew the lease', async () => {
  harness.server.seed(ConfigMap, { metadata: { name: 'scripts', namespace: 'shop' }, data: { 'run.sh': '' } })
  await harness.start({ kind: Deployment })
  harness.create('web', { ...withJob({ 'job-wait': 'true' }), ...FOLLOWED }, Deployment)
  await harness.clock.advance(62_000)
  harness.finishJob(harness.firstJob, 'Failed', 'BackoffLimitExceeded')
  await harness.clock.advance(15_000)
  const second = harness.jobs.find(({ status }) => !status?.conditions)
  if (second) harness.finishJob(second, 'Complete')
  await harness.clock.advance(2_000)
  expect(web()).toBeUndefined()
  expect(harness.everyJob).toHaveLength(2)
})

test('an update while the cleanup job runs keeps the object', async () => {
  harness.server.seed(ConfigMap, { metadata: { name: 'scripts', namespace: 'shop' }, data: { 'run.sh': '' } })
  await harness.start({ kind: Deployment })
  harness.create('web', { ...withJob({ 'job-wait': 'true' }), ...FOLLOWED }, Deployment)
  await harness.clock.advance(62_000)
  update()
  await harness.clock.advance(1_000)
  harness.finishJob(harness.firstJob, 'Complete')
  await harness.clock.advance(50_000)
  expect(web()).toBeDefined()
  expect(harness.annotations('web', Deployment)['lease-status']).toMatch(/^Lease active/)
})

test('a dry run reports the expiry of a followed lease once', async () => {
  await harness.start({ kind: Deployment, settings: { dryRun: true } })
  harness.create('web', FOLLOWED, Deployment)
  await harness.clock.advance(200_000)
  expect(harness.annotations('web', Deployment)['lease-status']).toBe('Lease expired. Dry run: object is kept.')
  expect(writes()).toBe(2)
})
