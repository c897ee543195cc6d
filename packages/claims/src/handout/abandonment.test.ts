import type { Fault } from '@tenure/controlplane'
import type { TransportRequest } from '@tenure/kube'
import { ConfigMap, Pod, Secret } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { ANNOTATIONS } from '../api/names.ts'
import { ClaimsFixture, LAZY_SECRET, MINUTE, NAMESPACE, type PoolFixture, TEMPLATE } from '../testing/claims-fixture.ts'
import type { TakeRequest } from './claim-service.ts'

let fixture: ClaimsFixture

async function setup(pools?: Readonly<Record<string, PoolFixture>>): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const NEVER_READY = TEMPLATE.replace('annotations:', 'annotations:\n    tenure.dev/simulate-ready: never')

/** Claims that were handed out, and all children that are not a member's. */
async function leftovers(): Promise<readonly string[]> {
  const claims = await fixture.claims()
  const members = new Set(claims.filter(({ isIdle }) => isIdle).map(({ object }) => object.metadata.name))
  const children = [
    ...(await fixture.children(Pod)),
    ...(await fixture.children(Secret)),
    ...(await fixture.children(ConfigMap)),
  ]
  const foreign = children.filter(({ metadata }) => !members.has(metadata.labels?.['claim-controller.io/claim'] ?? ''))
  return [
    ...claims.filter(({ isIdle }) => !isIdle).map(({ id }) => id),
    ...foreign.map(({ metadata }) => metadata.name),
  ]
}

describe('a caller that disconnects', () => {
  test.each<[string, PoolFixture, Partial<TakeRequest>]>([
    ['a cold claim that is never ready', { template: NEVER_READY }, {}],
    ['a cold claim with values', { template: NEVER_READY + LAZY_SECRET }, { values: { user: 'ada' } }],
    ['a warm claim', { count: 1 }, {}],
    ['a warm claim with values', { count: 1, template: TEMPLATE + LAZY_SECRET }, { values: { user: 'ada' } }],
    ['a warm claim with a key', { count: 1 }, { idempotencyKey: 'k' }],
  ])('at every request for %s leaves nothing behind after 2 s', async (_, pool, request) => {
    const { clock } = await setup({ default: pool })
    await fixture.replica()
    let caller = new AbortController()
    let requests = 0
    let at = Infinity
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: ({ path }: TransportRequest): Fault | undefined => {
        if (!path.includes('watch=') && !path.includes('events') && ++requests === at)
          caller.abort(new Error('has left'))
        return undefined
      },
    })
    for (let end = false, number = 0; !end; number++) {
      if (pool.count) await fixture.warm(pool.count)
      caller = new AbortController()
      requests = 0
      at = number === 0 ? Infinity : number
      // The first round disconnects during the wait for readiness.
      const taking = fixture.take(follower, { ...request, signal: caller.signal })
      taking.catch(() => undefined)
      if (number === 0) {
        await clock.advance(1_000)
        caller.abort(new Error('has left'))
      }
      const outcome = await taking.then(
        ({ id }) => ({ id, message: 'taken' }),
        ({ message }: Error) => ({ id: undefined, message }),
      )
      // The last round has no further request, so its caller stays: it gets its claim, or waits until it is too late.
      end = number > 0 && outcome.message !== 'has left'
      expect(outcome.message).toMatch(/^(?:has left|taken|timed out waiting)/)
      if (outcome.id !== undefined) await fixture.whilePassing(follower.service.release(outcome.id))
      await clock.advance(2_000)
      expect(await leftovers()).toEqual([])
      if (number > 20) throw new Error('a take needs too many requests')
    }
  })
})

describe('time limits', () => {
  test('a claim that cannot be taken within 10 s is a 504, and is removed when the API server answers', async () => {
    const { clock } = await setup({ default: { count: 1 } })
    await fixture.replica()
    let isSlow = false
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: ({ method }) => (isSlow && method === 'PATCH' ? { delay: 60_000 } : undefined),
    })
    await fixture.warm(1)
    isSlow = true
    const before = clock.now()
    await expect(fixture.take(follower)).rejects.toMatchObject({
      status: 504,
      message: 'upstream timeout while creating claim',
    })
    expect(clock.now() - before).toBe(10_000)
    isSlow = false
    await clock.advance(2_000)
    expect(await leftovers()).toEqual([])
    expect(await fixture.idle()).toHaveLength(1)
  })

  test('a call with a key has 10 s for all of its requests together', async () => {
    const { clock } = await setup({ default: { count: 1 } })
    await fixture.replica()
    let isSlow = false
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: ({ path }) => (isSlow && !path.includes('watch=') ? { delay: 6_000 } : undefined),
    })
    await fixture.warm(1)
    isSlow = true
    const before = clock.now()
    await expect(fixture.take(follower, { idempotencyKey: 'k' })).rejects.toMatchObject({ status: 504 })
    expect(clock.now() - before).toBe(10_000)
    isSlow = false
    await clock.advance(10_000)
    expect(await leftovers()).toEqual([])
  })

  test('a claim that is not ready within 120 s is a 504, and gone with its children 2 s later', async () => {
    const { clock } = await setup({ default: { template: NEVER_READY } })
    const replica = await fixture.replica()
    const before = clock.now()
    await expect(fixture.take(replica)).rejects.toMatchObject({ status: 504 })
    expect(clock.now() - before).toBeGreaterThanOrEqual(120_000)
    expect(clock.now() - before).toBeLessThan(121_000)
    await clock.advance(2_000)
    expect(await leftovers()).toEqual([])
  })

  test('a write that the API server carries out after its caller was refused is undone', async () => {
    const { clock } = await setup({ default: { count: 1 } })
    await fixture.replica()
    let isLost = false
    let lost: TransportRequest | undefined
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: (request) => {
        if (!isLost || request.path.includes('watch=')) return undefined
        if (request.method === 'PATCH') lost ??= request
        return { isLost: true }
      },
    })
    await fixture.warm(1)
    isLost = true
    await expect(fixture.take(follower)).rejects.toMatchObject({ status: 500 })
    isLost = false
    await clock.advance(20_000)
    expect(await fixture.idle()).toHaveLength(1)
    // The server was slow, and carries the write out now.
    if (lost)
      await fixture.plane.transport.request({
        method: lost.method,
        path: lost.path,
        headers: lost.headers ?? {},
        body: lost.body ?? '',
      })
    expect((await fixture.claims()).filter(({ isIdle }) => !isIdle)).toHaveLength(1)
    await clock.advance(3_000)
    expect(await leftovers()).toEqual([])
  })
})

describe('a claim that ends while its caller waits', () => {
  test('a claim that expires ends the wait at once with a clear error', async () => {
    const { clock } = await setup({ default: { template: NEVER_READY } })
    const replica = await fixture.replica()
    const before = clock.now()
    await expect(fixture.take(replica, { ttl: 5_000 })).rejects.toMatchObject({
      status: 500,
      message: 'failed while waiting for claim readiness: the claim was released or has expired',
    })
    expect(clock.now() - before).toBeLessThan(8_000)
  })

  test('a claim that is deleted while its lazy resources are created is an error, and not an answer', async () => {
    const { clock } = await setup({ default: { count: 1, template: TEMPLATE + LAZY_SECRET } })
    await fixture.replica()
    let isSlow = false
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: ({ method, path }) =>
        isSlow && method === 'POST' && path.includes('/secrets') ? { delay: 1_000 } : undefined,
    })
    await fixture.warm(1)
    isSlow = true
    const taking = fixture.take(follower)
    taking.catch(() => undefined)
    const claimed = await fixture.until(async () => (await fixture.claims()).find(({ isIdle }) => !isIdle))
    await fixture.api.delete(ConfigMap, { name: claimed?.object.metadata.name ?? '', namespace: NAMESPACE })
    await expect(taking).rejects.toMatchObject({ status: 500, message: expect.stringContaining('released') })
    await clock.advance(2_000)
    expect(await leftovers()).toEqual([])
  })
})

describe('a process that stops', () => {
  test('calls in progress end with 503, and their claims are gone before the process is', async () => {
    await setup({ default: { template: NEVER_READY } })
    const leader = await fixture.replica()
    const follower = await fixture.replica({ leads: false, seed: 9 })
    const calls = [fixture.take(follower), fixture.take(follower, { idempotencyKey: 'k' })]
    for (const call of calls) call.catch(() => undefined)
    await fixture.until(async () => (await fixture.claims()).length === 2)
    await follower.stop()
    for (const call of calls) await expect(call).rejects.toMatchObject({ status: 503 })
    expect(await fixture.claims()).toEqual([])
    await expect(fixture.take(follower)).rejects.toMatchObject({ status: 503 })
    await leader.stop()
  })
})

describe('a replica whose watch is late', () => {
  test('it renews and releases claims that another replica handed out', async () => {
    const { clock } = await setup({ default: { count: 2 } })
    const leader = await fixture.replica()
    await fixture.warm(2)
    const follower = await fixture.replica({ leads: false, seed: 9 })
    follower.transport.dropWatches()
    const { id } = await fixture.take(leader, { ttl: MINUTE })
    expect(await follower.service.renew(id, 2 * MINUTE)).toBeGreaterThan(clock.now() + MINUTE)
    await expect(follower.service.release(id)).resolves.toBeUndefined()
  })

  test('it does not hand out a member that another replica has handed out', async () => {
    await setup({ default: { count: 2 } })
    const leader = await fixture.replica()
    await fixture.warm(2)
    const follower = await fixture.replica({
      leads: false,
      seed: 9,
      faults: ({ path }) => (path.includes('watch=') ? { delay: 30 * MINUTE } : undefined),
    })
    const ids = [(await fixture.take(leader)).id, (await fixture.take(follower)).id]
    expect(new Set(ids).size).toBe(2)
    const stored = await fixture.claims()
    for (const id of ids) {
      const claim = stored.find((each) => each.id === id)
      expect(claim?.object.metadata.annotations?.[ANNOTATIONS.claimedAt]).toBeDefined()
    }
  })
})
