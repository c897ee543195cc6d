import { Deployment } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SEED, LeaseHarness } from '../../testing/lease-harness.ts'
import { deploymentSpec } from '../../testing/objects.ts'

const HOUR = 3_600_000

let harness: LeaseHarness
beforeEach(async () => {
  harness = await LeaseHarness.create()
  await harness.start({ kind: Deployment })
})
afterEach(() => harness.stop())

const timeIn = (milliseconds: number): string =>
  `${new Date(harness.clock.now() + milliseconds).toISOString().slice(0, 19)}Z`
const notes = () => harness.annotations('web', Deployment)

/** The annotations as an old ReplicaSet has them, with its pod template: what `kubectl rollout undo` writes. */
function rollBackTo(annotations: Readonly<Record<string, string>> | undefined): void {
  const web = harness.server.peek(Deployment, { name: 'web', namespace: 'shop' })
  if (!web) throw new Error('web does not exist')
  // Another spec increases the generation.
  const spec = { ...deploymentSpec, replicas: (web.spec?.replicas ?? 1) + 1 }
  const { annotations: _, ...metadata } = web.metadata
  harness.server.seed(Deployment, { metadata: { ...metadata, annotations: { ...annotations } }, spec })
}

const annotationsNow = () => harness.object('web', Deployment)?.metadata.annotations

test('a rollback does not expire a lease that was extended since', async () => {
  harness.create('web', { [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await harness.clock.advance(1_000)
  const before = annotationsNow()
  await harness.clock.advance(HOUR - 60_000)
  harness.annotate('web', { [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await harness.clock.advance(120_000)
  rollBackTo(before)
  const now = harness.clock.now()
  await harness.clock.advance(5_000)
  expect(harness.object('web', Deployment)).toBeDefined()
  expect(Date.parse(notes()['expire-at'] ?? '')).toBeGreaterThanOrEqual(now + HOUR - 1_000)
  expect(notes()['lease-status']).toMatch(/^Lease active/)
  expect(harness.reasons('web')).toContain('LeaseStartReset')
  await harness.clock.advance(HOUR - 10_000)
  expect(harness.object('web', Deployment)).toBeDefined()
  await harness.clock.advance(10_000)
  expect(harness.object('web', Deployment)).toBeUndefined()
})

test('a rollback that restores a removed lease restarts it', async () => {
  harness.create('web', { [`${SEED}ttl`]: '1h' }, Deployment)
  await harness.clock.advance(1_000)
  const before = annotationsNow()
  harness.annotate('web', { [`${SEED}ttl`]: undefined }, Deployment)
  await harness.clock.advance(10 * HOUR)
  expect(notes()).toEqual({})
  rollBackTo(before)
  await harness.clock.advance(HOUR - 5_000)
  expect(harness.object('web', Deployment)).toBeDefined()
  await harness.clock.advance(7_000)
  expect(harness.object('web', Deployment)).toBeUndefined()
})

test('a restored expires in the past is invalid', async () => {
  harness.create('web', { [`${SEED}expires`]: timeIn(HOUR) }, Deployment)
  await harness.clock.advance(1_000)
  const before = annotationsNow()
  harness.annotate('web', { [`${SEED}expires`]: timeIn(10 * HOUR) }, Deployment)
  await harness.clock.advance(2 * HOUR)
  rollBackTo(before)
  await harness.clock.advance(HOUR)
  expect(notes()['lease-status']).toMatch(/^Invalid TTL: expires had passed when it came back/)
  expect(notes()).not.toHaveProperty('expire-at')
  harness.annotate('web', { [`${SEED}expires`]: timeIn(60_000) }, Deployment)
  await harness.clock.advance(63_000)
  expect(harness.object('web', Deployment)).toBeUndefined()
})

test('a change of annotations alone takes effect as written', async () => {
  harness.create('web', { [`${SEED}ttl`]: '3h', [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await harness.clock.advance(2 * HOUR)
  harness.annotate('web', { [`${SEED}extended-at`]: timeIn(-4 * HOUR) }, Deployment)
  await harness.clock.advance(2_000)
  expect(harness.object('web', Deployment)).toBeUndefined()
})

test('a rollback to a lease that has not expired keeps it', async () => {
  harness.create('web', { [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await harness.clock.advance(1_000)
  const before = annotationsNow()
  await harness.clock.advance(60_000)
  harness.annotate('web', { [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await harness.clock.advance(60_000)
  rollBackTo(before)
  await harness.clock.advance(1_000)
  expect(annotationsNow()).toEqual(before)
})
