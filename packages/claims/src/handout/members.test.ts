import { afterEach, expect, test, vi } from 'vitest'
import { ClaimsFixture, type PoolFixture } from '../testing/claims-fixture.ts'
import { Members } from './members.ts'

let fixture: ClaimsFixture

async function setup(pool: PoolFixture): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create({ default: pool })
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const revision = (): string => fixture.templates.get('default')?.current().revision ?? ''

test('a hand-out does not look at all claims', async () => {
  await setup({ count: 30 })
  const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
  await fixture.warm(30)
  const { cache } = follower.view.informer
  const list = vi.spyOn(cache, 'list')
  const byIndex = vi.spyOn(cache, 'byIndex')
  for (let number = 0; number < 5; number++) await fixture.take(follower)
  expect([list.mock.calls.length, byIndex.mock.calls.length]).toEqual([0, 0])
  expect(leader.view.all().length).toBeGreaterThanOrEqual(30)
})

test('the oldest ready member is first, and each is reserved once until it is free', async () => {
  const { clock } = await setup({ count: 1 })
  const first = await fixture.replica()
  await fixture.warm(1)
  const [oldest] = await fixture.idle()
  await first.stop()
  await clock.advance(60_000)
  fixture.configure('default', { count: 4 })
  const replica = await fixture.replica({ seed: 6 })
  await fixture.warm(4)
  const members = new Members(replica.view, clock)
  const reserved = Array.from({ length: 5 }, () => members.reserve('default', revision()))
  expect(reserved[0]?.id).toBe(oldest?.id)
  expect(new Set(reserved.map((claim) => claim?.id)).size).toBe(5)
  expect(reserved[4]).toBeUndefined()
  if (reserved[2]) members.free(reserved[2])
  expect(members.reserve('default', revision())?.id).toBe(reserved[2]?.id)
  expect(members.reserve('default', 'another revision')).toBeUndefined()
  expect(members.reserve('other', revision())).toBeUndefined()
})

test('a member that has changed is not reserved again before the watch shows it, or a second has passed', async () => {
  const { clock } = await setup({ count: 1 })
  const replica = await fixture.replica()
  await fixture.warm(1)
  const members = new Members(replica.view, clock)
  const member = members.reserve('default', revision())
  if (member) members.drop(member)
  expect(members.reserve('default', revision())).toBeUndefined()
  await clock.advance(1_000)
  expect(members.reserve('default', revision())?.id).toBe(member?.id)
})

test('a ready member is handed out before a pending one, and a pending one before a new claim is made', async () => {
  await setup({ count: 3 })
  const replica = await fixture.replica()
  await fixture.warm(3)
  fixture.takeWrites()
  // The members that replace the first ones are not ready yet.
  const taken = await Promise.all(Array.from({ length: 3 }, () => fixture.take(replica)))
  const next = await fixture.take(replica)
  expect([...taken, next].every(({ isPreProvisioned }) => isPreProvisioned)).toBe(true)
})
