import { afterEach, describe, expect, test } from 'vitest'
import { ClaimsFixture, LAZY_SECRET, MINUTE, type PoolFixture, TEMPLATE } from '../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools: Readonly<Record<string, PoolFixture>>): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const statusOf = (error: { status?: number }): number | undefined => error.status

describe('the share of a caller', () => {
  test('it is exact for calls at the same time, over all pools, and other callers are not affected', async () => {
    await setup({ default: { count: 2, template: TEMPLATE + LAZY_SECRET }, cold: {} })
    const replica = await fixture.replica({ maxClaimsPerCaller: 3 })
    await fixture.warm(2)
    const calls = Array.from({ length: 8 }, (_, number) =>
      fixture.take(replica, { pool: number % 2 ? 'cold' : 'default', values: { user: 'a' } }).then(() => 201, statusOf),
    )
    const other = fixture.take(replica, { caller: 'another' }).then(() => 201, statusOf)
    expect((await Promise.all(calls)).toSorted((a = 0, b = 0) => a - b)).toEqual([
      201, 201, 201, 429, 429, 429, 429, 429,
    ])
    expect(await other).toBe(201)
  })

  test('a claim under way is not counted twice', async () => {
    await setup({ default: { count: 2, template: TEMPLATE + LAZY_SECRET } })
    const replica = await fixture.replica({
      maxClaimsPerCaller: 2,
      faults: ({ method, path }) => (method === 'POST' && path.includes('/secrets') ? { delay: 2_000 } : undefined),
    })
    await fixture.warm(2)
    const first = fixture.take(replica)
    await fixture.until(() => Promise.resolve(replica.view.all().some(({ isIdle }) => !isIdle)))
    // The first claim is handed out, and its lazy resource is under way.
    expect((await fixture.take(replica)).id).not.toBe((await first).id)
  })

  test('the answer says when the next claim of the caller ends', async () => {
    const { clock } = await setup({ default: { count: 2 } })
    const replica = await fixture.replica({ maxClaimsPerCaller: 2 })
    await fixture.warm(2)
    await fixture.take(replica, { ttl: 5 * MINUTE })
    await fixture.take(replica, { ttl: 2 * MINUTE })
    await clock.advance(MINUTE)
    const error = await fixture.take(replica).catch((failure: unknown) => failure)
    expect(error).toMatchObject({ status: 429, message: 'too many claims: at most 2 per caller' })
    const { retryAfter = 0 } = error as { retryAfter?: number }
    expect(retryAfter).toBeGreaterThan(50)
    expect(retryAfter).toBeLessThanOrEqual(61)
    await clock.advance(retryAfter * 1_000 + 1_000)
    expect((await fixture.take(replica)).id).toBeDefined()
  })

  test('the claims of other replicas count, and a claim that was given up does not', async () => {
    const { clock } = await setup({
      default: { count: 2 },
      slow: { template: TEMPLATE.replace('annotations:', 'annotations:\n    tenure.dev/simulate-ready: never') },
    })
    const [leader, follower] = [
      await fixture.replica({ maxClaimsPerCaller: 1 }),
      await fixture.replica({ leads: false, maxClaimsPerCaller: 1, seed: 9 }),
    ]
    await fixture.warm(2)
    const caller = new AbortController()
    const slow = fixture.take(leader, { pool: 'slow', signal: caller.signal })
    slow.catch(() => undefined)
    await clock.advance(1_000)
    await expect(fixture.take(follower)).rejects.toMatchObject({ status: 429 })
    caller.abort(new Error('has left'))
    await clock.advance(2_000)
    expect((await fixture.take(follower)).id).toBeDefined()
  })

  test('a repetition with the same key does not count', async () => {
    await setup({ default: { count: 1 } })
    const replica = await fixture.replica({ maxClaimsPerCaller: 1 })
    await fixture.warm(1)
    const { id } = await fixture.take(replica, { idempotencyKey: 'k' })
    expect((await fixture.take(replica, { idempotencyKey: 'k' })).id).toBe(id)
  })
})
