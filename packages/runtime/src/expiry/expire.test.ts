import type { KubeObject, Stored } from '@tenure/kube'
import { Client, defineKind } from '@tenure/kube'
import { VirtualClock, seededRandom, settle } from '@tenure/kube/testing'
import { describe, expect, it } from 'vitest'
import { MemoryApi } from '../testing/memory-api.ts'
import { refuse } from '../testing/responses.ts'
import { expire } from './expire.ts'
import { Expiry } from './expiry.ts'

interface Claim extends KubeObject {
  readonly spec?: { readonly expires: string }
}
const claimKind = defineKind<Claim>({ apiVersion: 'example.dev/v1', kind: 'Claim' })
const ref = { namespace: 'shop', name: 'one' }
const isDue = (claim: Stored<Claim>, now: number) => now >= Date.parse(claim.spec?.expires ?? '')
const claim = (expires: number): Claim => ({
  apiVersion: 'example.dev/v1',
  kind: 'Claim',
  metadata: ref,
  spec: { expires: new Date(expires).toISOString() },
})

function world() {
  const serverClock = new VirtualClock()
  const api = new MemoryApi({ clock: serverClock })
  // Ours shares the time that passes, but has a wall clock of its own.
  let ahead = 0
  const clock = {
    now: () => serverClock.now() + ahead,
    monotonic: () => serverClock.monotonic(),
    setTimer: (delay: number, callback: () => void) => serverClock.setTimer(delay, callback),
  }
  const client = new Client({ transport: api, clock, random: seededRandom(), retry: { attempts: 1 } })
  const seed = (after: number) => api.seed(claimKind, claim(serverClock.now() + after))
  return {
    api,
    clock,
    client,
    serverClock,
    seed,
    setAhead: (milliseconds: number) => (ahead = milliseconds),
    stored: () => api.peek(claimKind, ref),
    run: () => expire(client, claimKind, ref, { clock, isDue }),
  }
}

describe('expire', () => {
  it('deletes exactly what it read', async () => {
    const { api, run, seed, stored } = world()
    const { metadata } = seed(-1)
    expect(await run()).toMatchObject({ outcome: 'deleted', object: { metadata: { name: 'one' } } })
    expect(stored()).toBeUndefined()
    const deletion = api.requests.find(({ verb }) => verb === 'delete')
    expect(JSON.stringify(deletion)).toContain(metadata.uid)
    expect(api.requests.map(({ verb }) => verb)).toEqual(['get', 'delete'])
  })

  it('passes on the propagation asked for', async () => {
    const { api, client, clock, seed } = world()
    seed(-1)
    await expire(client, claimKind, ref, { clock, isDue, propagation: 'Foreground' })
    expect(JSON.stringify(api.requests.at(-1))).toContain('Foreground')
  })

  it('says so when the object is on its way', async () => {
    const { api, run, serverClock } = world()
    api.seed(claimKind, {
      ...claim(serverClock.now() - 1),
      metadata: { ...ref, finalizers: ['example.dev/cleanup'] },
    })
    expect(await run()).toMatchObject({
      outcome: 'deleting',
      object: { metadata: { deletionTimestamp: expect.any(String) } },
    })
    api.clearRequests()
    expect(await run()).toMatchObject({ outcome: 'terminating' })
    expect(api.requests.map(({ verb }) => verb)).toEqual(['get'])
  })

  it('leaves alone what is gone or not due', async () => {
    const { api, run, seed, stored } = world()
    expect(await run()).toEqual({ outcome: 'gone' })
    seed(1)
    expect(await run()).toMatchObject({ outcome: 'not-due' })
    expect(stored()).toBeDefined()
    expect(api.requests.every(({ verb }) => verb === 'get')).toBe(true)
  })

  it('lets an extension win that comes between its read and its delete', async () => {
    const { api, run, seed, stored } = world()
    seed(-1)
    api.intercept(({ verb }) => {
      if (verb === 'delete') seed(60_000)
      return undefined
    })
    expect(await run()).toMatchObject({ outcome: 'not-due' })
    expect(stored()).toBeDefined()
    expect(api.requests.map(({ verb }) => verb)).toEqual(['get', 'delete', 'get'])
  })

  it('does not delete an object that was made anew under the same name', async () => {
    const { api, run, seed, stored } = world()
    seed(-1)
    api.intercept(({ verb }) => {
      if (verb === 'delete') {
        api.unseed(claimKind, ref)
        seed(60_000)
      }
      return undefined
    })
    expect(await run()).toMatchObject({ outcome: 'not-due' })
    expect(stored()).toBeDefined()
  })

  it('deletes after changes that do not matter, and gives up for now if they do not end', async () => {
    const { api, run, seed } = world()
    let changes = 2
    seed(-1_000)
    api.intercept(({ verb }) => {
      if (verb === 'delete' && changes-- > 0) seed(-1_000 - changes)
      return undefined
    })
    expect(await run()).toMatchObject({ outcome: 'deleted' })
    changes = 100
    seed(-1_000)
    await expect(run()).rejects.toMatchObject({ code: 'TENURE_EXPIRY_CONTENDED', fate: 'retry' })
  })

  it('does not delete early when our clock runs ahead, and says when to come again', async () => {
    const { run, seed, setAhead, serverClock, stored } = world()
    setAhead(3_600_000)
    seed(600_000)
    const early = await run()
    expect(early).toMatchObject({ outcome: 'early', retryAfter: 600_000 })
    expect(stored()).toBeDefined()
    await serverClock.advance(599_999)
    expect(await run()).toMatchObject({ outcome: 'early' })
    await serverClock.advance(1)
    expect(await run()).toMatchObject({ outcome: 'deleted' })
  })

  it('waits out the second that a Date header cuts off, and no longer', async () => {
    const { run, seed, serverClock } = world()
    seed(700)
    await serverClock.advance(700)
    expect(await run()).toMatchObject({ outcome: 'early', retryAfter: 300 })
    await serverClock.advance(300)
    expect(await run()).toMatchObject({ outcome: 'deleted' })
  })

  it('with a clock hardly ahead is hardly late, for a few reads', async () => {
    const { api, run, seed, setAhead, serverClock, stored } = world()
    seed(5_000)
    setAhead(400)
    await serverClock.advance(4_600)
    for (let result = await run(); result.outcome === 'early'; result = await run()) {
      await serverClock.advance(result.retryAfter)
    }
    expect(stored()).toBeUndefined()
    expect(serverClock.monotonic()).toBeGreaterThanOrEqual(5_000)
    expect(serverClock.monotonic()).toBeLessThanOrEqual(5_250)
    expect(api.requests.filter(({ verb }) => verb === 'get')).toHaveLength(3)
  })

  it('does not delete when our clock is behind', async () => {
    const { run, seed, setAhead } = world()
    setAhead(-10_000)
    seed(-5_000)
    expect(await run()).toMatchObject({ outcome: 'not-due' })
  })

  it('refuses to trust our clock alone, unless told to', async () => {
    const { client, clock, seed } = world()
    seed(-1)
    const withoutDate = Object.assign(Object.create(client) as Client, {
      getLive: async () => ({ object: await client.get(claimKind, ref), serverTime: undefined }),
      delete: client.delete.bind(client),
    })
    await expect(expire(withoutDate, claimKind, ref, { clock, isDue })).rejects.toMatchObject({
      code: 'TENURE_EXPIRY_NO_SERVER_TIME',
    })
    const result = await expire(withoutDate, claimKind, ref, { clock, isDue, requireServerTime: false })
    expect(result.outcome).toBe('deleted')
  })

  it('passes other failures on', async () => {
    const { api, run, seed, stored } = world()
    seed(-1)
    api.intercept(({ verb }) => (verb === 'delete' ? refuse(403, 'Forbidden') : undefined))
    await expect(run()).rejects.toMatchObject({ status: 403 })
    expect(stored()).toBeDefined()
  })

  it('together with Expiry deletes in time with a clock an hour ahead, and reads nothing before', async () => {
    const { api, client, clock, seed, setAhead, serverClock, stored } = world()
    setAhead(3_600_000)
    const { spec } = seed(7_200_000)
    const stop = new AbortController()
    const expiry = new Expiry({
      clock,
      random: seededRandom(),
      async onDue(_key, signal) {
        const result = await expire(client, claimKind, ref, { clock, isDue, signal })
        return result.outcome === 'early' ? { again: result.retryAfter } : undefined
      },
    })
    expiry.set('shop/one', Date.parse(spec?.expires ?? ''))
    const ended = expiry.run(stop.signal)
    await serverClock.advance(3_599_999)
    expect(api.requests).toHaveLength(0)
    await serverClock.advance(3_600_000)
    expect(stored()).toBeDefined()
    await serverClock.advance(1)
    await settle()
    expect(stored()).toBeUndefined()
    expect(api.requests.map(({ verb }) => verb)).toEqual(['get', 'get', 'delete'])
    stop.abort()
    await ended
  })
})
