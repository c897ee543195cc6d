import { mergePatch, type Stored } from '@tenure/kube'
import { ConfigMap, Event } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { ANNOTATIONS } from '../../api/names.ts'
import { ClaimsFixture, MINUTE, NAMESPACE, type PoolFixture } from '../../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools: Readonly<Record<string, PoolFixture>> = { default: {} }): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const at = (name: string) => ({ name, namespace: NAMESPACE })
const claim = (id: string): Promise<Stored<ConfigMap>> => fixture.api.get(ConfigMap, at(`claim-${id}`))

async function events(reason: string): Promise<readonly string[]> {
  const { items } = await fixture.api.list(Event, { namespace: NAMESPACE })
  return items.filter((event) => event.reason === reason).map(({ note = '' }) => note)
}

const setExpiry = (id: string, text: string | null) =>
  fixture.api.patch(
    ConfigMap,
    at(`claim-${id}`),
    mergePatch({ metadata: { annotations: { [ANNOTATIONS.expiresAt]: text } } }),
  )

describe('expiry', () => {
  test.each(['tomorrow', '', '2026-13-01T00:00:00Z', null])(
    'an expiry of %j is repaired once, with an event',
    async (text) => {
      const { clock } = await setup()
      const replica = await fixture.replica()
      const { id } = await fixture.take(replica, { ttl: 20 * MINUTE })
      await setExpiry(id, text)
      const now = clock.now()
      await clock.advance(1_000)
      const repaired = Date.parse((await claim(id)).metadata.annotations?.[ANNOTATIONS.expiresAt] ?? '')
      expect(repaired).toBeGreaterThanOrEqual(now + 10 * MINUTE - 1_000)
      expect(repaired).toBeLessThanOrEqual(now + 10 * MINUTE + 1_000)
      await clock.advance(9 * MINUTE)
      expect(await events('ExpiryRepaired')).toHaveLength(1)
      expect(await fixture.claims()).toHaveLength(1)
      await clock.advance(2 * MINUTE)
      expect(await fixture.claims()).toEqual([])
      expect(await events('Expired')).toEqual(['Claim expired and resources were deleted'])
    },
  )

  test('a jump of the clock never deletes a claim early', async () => {
    const { clock } = await setup()
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica, { ttl: 20 * MINUTE })
    // The wall clock of the process jumps an hour ahead, and is corrected half a minute later.
    clock.jump(60 * MINUTE)
    await clock.advance(30_000)
    clock.jump(-60 * MINUTE)
    await clock.advance(5 * MINUTE)
    expect((await fixture.claims()).map((each) => each.id)).toEqual([id])
    await clock.advance(20 * MINUTE)
    expect(await fixture.claims()).toEqual([])
  })

  test('it is exact after a restart, also for a claim whose time was over meanwhile', async () => {
    const { clock } = await setup()
    const first = await fixture.replica()
    const [soon, later] = [await fixture.take(first, { ttl: MINUTE }), await fixture.take(first, { ttl: 10 * MINUTE })]
    await first.stop()
    await clock.advance(2 * MINUTE)
    expect(await fixture.claims()).toHaveLength(2)
    await fixture.replica()
    await clock.advance(2_000)
    expect((await fixture.claims()).map(({ id }) => id)).toEqual([later.id])
    expect(soon.id).not.toBe(later.id)
    await clock.advance(later.expiresAt - clock.now() - 100)
    expect(await fixture.claims()).toHaveLength(1)
    await clock.advance(1_100)
    expect(await fixture.claims()).toEqual([])
  })
})
