import { Deployment } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SEED, World } from '../../testing/lease-harness.ts'

const HOUR = 3_600_000

let world: World
beforeEach(async () => {
  world = new World()
  await world.start({ kind: Deployment })
})
afterEach(() => world.stop())

const timeIn = (milliseconds: number): string =>
  `${new Date(world.clock.now() + milliseconds).toISOString().slice(0, 19)}Z`
const notes = () => world.notes('web', Deployment)

/** The annotations as an old ReplicaSet has them, with its pod template: what `kubectl rollout undo` writes. */
function rollBackTo(annotations: Readonly<Record<string, string>> | undefined): void {
  const { metadata } = world.object('web', Deployment) ?? {}
  if (!metadata) throw new Error('there is no web')
  const generation = (metadata.generation ?? 1) + 1
  world.server.seed(Deployment, { metadata: { ...metadata, generation, annotations: { ...annotations } } })
}

const annotationsNow = () => world.object('web', Deployment)?.metadata.annotations

it('a rollback does not end a lease that was extended since', async () => {
  world.create('web', { [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await world.clock.advance(1_000)
  const before = annotationsNow()
  await world.clock.advance(HOUR - 60_000)
  world.annotate('web', { [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await world.clock.advance(120_000)
  rollBackTo(before)
  const now = world.clock.now()
  await world.clock.advance(5_000)
  expect(world.object('web', Deployment)).toBeDefined()
  expect(Date.parse(notes()['expire-at'] ?? '')).toBeGreaterThanOrEqual(now + HOUR - 1_000)
  expect(notes()['lease-status']).toMatch(/^Lease active/)
  expect(world.reasons('web')).toContain('LeaseStartReset')
  await world.clock.advance(HOUR - 10_000)
  expect(world.object('web', Deployment)).toBeDefined()
  await world.clock.advance(10_000)
  expect(world.object('web', Deployment)).toBeUndefined()
})

it('a rollback that brings back a lease which somebody had taken off starts it anew', async () => {
  world.create('web', { [`${SEED}ttl`]: '1h' }, Deployment)
  await world.clock.advance(1_000)
  const before = annotationsNow()
  world.annotate('web', { [`${SEED}ttl`]: undefined }, Deployment)
  await world.clock.advance(10 * HOUR)
  expect(notes()).toEqual({})
  rollBackTo(before)
  await world.clock.advance(HOUR - 5_000)
  expect(world.object('web', Deployment)).toBeDefined()
  await world.clock.advance(7_000)
  expect(world.object('web', Deployment)).toBeUndefined()
})

it('a date that has passed and comes back is not taken for one that somebody wants', async () => {
  world.create('web', { [`${SEED}expires`]: timeIn(HOUR) }, Deployment)
  await world.clock.advance(1_000)
  const before = annotationsNow()
  world.annotate('web', { [`${SEED}expires`]: timeIn(10 * HOUR) }, Deployment)
  await world.clock.advance(2 * HOUR)
  rollBackTo(before)
  await world.clock.advance(HOUR)
  expect(notes()['lease-status']).toMatch(/^Invalid TTL: expires had passed when it came back/)
  expect(notes()).not.toHaveProperty('expire-at')
  world.annotate('web', { [`${SEED}expires`]: timeIn(60_000) }, Deployment)
  await world.clock.advance(63_000)
  expect(world.object('web', Deployment)).toBeUndefined()
})

it('a change of the annotations alone means what it says', async () => {
  world.create('web', { [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await world.clock.advance(2_000)
  world.annotate('web', { [`${SEED}extended-at`]: timeIn(-2 * HOUR) }, Deployment)
  await world.clock.advance(2_000)
  expect(world.object('web', Deployment)).toBeUndefined()
})

it('a rollback to a lease that still runs leaves it as it was then', async () => {
  world.create('web', { [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await world.clock.advance(1_000)
  const before = annotationsNow()
  await world.clock.advance(60_000)
  world.annotate('web', { [`${SEED}extended-at`]: timeIn(0) }, Deployment)
  await world.clock.advance(60_000)
  rollBackTo(before)
  await world.clock.advance(1_000)
  expect(annotationsNow()).toEqual(before)
})
