import { ConfigMap } from '@tenure/kube/kinds'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { ANNOTATIONS } from '../api/names.ts'
import { ClaimsFixture, MINUTE, NAMESPACE, type PoolFixture } from '../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pool: PoolFixture = {}): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create({ default: pool })
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const exists = async (id: string): Promise<boolean> => (await fixture.claims()).some((claim) => claim.id === id)

describe('the TTL of a claim', () => {
  test.each([
    ['no TTL is the default', undefined, 10 * MINUTE, ['default', 'cold']],
    ['a TTL above the maximum is capped', 24 * 60 * MINUTE, 30 * MINUTE, ['default', 'cold']],
    ['a short TTL is rounded up to whole seconds', 1, 1, ['default']],
  ])('%s, and the answer is what was stored', async (_, ttl, life, pools) => {
    fixture = await ClaimsFixture.create({ default: { count: 1 }, cold: {} })
    const { clock } = fixture
    await clock.advance(137)
    const replica = await fixture.replica()
    await fixture.warm(1)
    for (const pool of pools) {
      const now = clock.now()
      const taken = await fixture.take(replica, { pool, ttl })
      const { metadata } = await fixture.api.get(ConfigMap, { name: `claim-${taken.id}`, namespace: NAMESPACE })
      const { [ANNOTATIONS.claimedAt]: from = '', [ANNOTATIONS.expiresAt]: to = '' } = metadata.annotations ?? {}
      expect(taken.isPreProvisioned).toBe(pool === 'default')
      expect(Date.parse(to)).toBe(taken.expiresAt)
      expect(taken.expiresAt).toBeGreaterThanOrEqual(now + life)
      expect(taken.expiresAt).toBeLessThan(now + life + 1_000)
      // Never more than the maximum after the hand-out.
      expect(taken.expiresAt - Date.parse(from)).toBeLessThanOrEqual(30 * MINUTE)
    }
  })
})

describe('a renewal', () => {
  test('its response may be lost: the repetition finds what was stored', async () => {
    await setup({ count: 1 })
    await fixture.replica()
    let lost = 0
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: ({ method }) => (method === 'PATCH' && lost-- > 0 ? { isResponseLost: true } : undefined),
    })
    await fixture.warm(1)
    const { expiresAt, id } = await fixture.take(follower, { ttl: MINUTE })
    lost = 2
    const renewed = await fixture.whilePassing(follower.service.renew(id, 5 * MINUTE))
    expect(renewed).toBeGreaterThan(expiresAt)
    expect((await fixture.claims()).find((claim) => claim.id === id)?.expiresAt).toBe(renewed)
  })

  test('after the maximum it is 409', async () => {
    const { clock } = await setup({ maxTtl: 2 * MINUTE, defaultTtl: MINUTE })
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica, { ttl: 2 * MINUTE })
    // A claim that outlives its maximum: its expiry was changed by hand.
    const expiresAt = new Date(clock.now() + 60 * MINUTE).toISOString()
    await fixture.api.patch(
      ConfigMap,
      { name: `claim-${id}`, namespace: NAMESPACE },
      {
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { [ANNOTATIONS.expiresAt]: expiresAt } } },
      },
    )
    await clock.advance(3 * MINUTE)
    await expect(fixture.whilePassing(replica.service.renew(id, MINUTE))).rejects.toMatchObject({
      status: 409,
      message: 'max ttl already reached',
    })
  })

  test.each(['', ' ', '../x', 'A', 'a'.repeat(64), '__proto__', 'unknown'])('the id %j is 404', async (id) => {
    await setup()
    const replica = await fixture.replica()
    await expect(fixture.whilePassing(replica.service.renew(id, undefined))).rejects.toMatchObject({ status: 404 })
  })
})

test('a renewal never shortens, never exceeds the maximum, and is never followed by a deletion before its time', async () => {
  const maxTtl = 40_000
  await setup({ maxTtl, defaultTtl: 10_000 })
  const { clock } = fixture
  const leader = await fixture.replica()
  const follower = await fixture.replica({ leads: false, seed: 9 })
  const step = fc.record({
    // Around the moment of expiry: the renewal and the deletion race.
    offset: fc.integer({ min: -1_500, max: 1_500 }),
    ttl: fc.integer({ min: 1, max: 20_000 }),
    isLeader: fc.boolean(),
    delay: fc.integer({ min: 0, max: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
      const { expiresAt, id } = await fixture.take(leader, { ttl: 5_000 })
      const claimedAt = (await fixture.claims()).find((claim) => claim.id === id)?.claimedAt ?? 0
      let promised = expiresAt
      for (const { delay, isLeader, offset, ttl } of steps) {
        await clock.advance(Math.max(promised + offset - clock.now(), 0))
        const renewing = (isLeader ? leader : follower).service
          .renew(id, ttl)
          .catch((error: { status: number }) => error)
        await clock.advance(delay)
        const renewed = await fixture.whilePassing(renewing)
        const status = typeof renewed === 'number' ? 200 : renewed.status
        expect([200, 404, 409]).toContain(status)
        if (typeof renewed !== 'number') break
        expect(renewed).toBeGreaterThanOrEqual(promised)
        expect(renewed).toBeLessThanOrEqual(claimedAt + maxTtl)
        promised = renewed
        await clock.advance(Math.max(Math.min(promised - clock.now() - 1, 500), 0))
        expect(clock.now() >= promised || (await exists(id))).toBe(true)
      }
      await clock.advance(Math.max(promised - clock.now(), 0) + 2_500)
      expect(await exists(id)).toBe(false)
    }),
    { numRuns: 40, seed: 15, endOnFailure: true },
  )
}, 60_000)
