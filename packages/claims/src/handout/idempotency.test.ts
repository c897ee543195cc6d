import type { Fault } from '@tenure/controlplane'
import type { TransportRequest } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { seededRandom } from '@tenure/kube/testing'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { ClaimsFixture, MINUTE, type PoolFixture, TEMPLATE } from '../testing/claims-fixture.ts'
import type { TakenClaim } from './claim-service.ts'

let fixture: ClaimsFixture

async function setup(pool: PoolFixture): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create({ default: pool })
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const claimed = async () => (await fixture.claims()).filter(({ isIdle }) => !isIdle)
const SECRET_RETURN = `
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}
  annotations: {claim.controller/return: "password={{ randAlphaNum 12 }}"}
`

describe('a call with a key', () => {
  test('it costs one write more than a call without', async () => {
    await setup({ count: 2 })
    const replica = await fixture.replica()
    await fixture.warm(2)
    fixture.takeWrites()
    const [first, second] = [await fixture.take(replica), await fixture.take(replica, { idempotencyKey: 'k' })]
    const writes = fixture.takeWrites()
    expect(writes.filter((write) => write.endsWith(first.id))).toEqual([`PATCH claim-${first.id}`])
    expect(writes.filter((write) => write.endsWith(second.id))).toEqual([`PATCH claim-${second.id}`])
    expect(writes.filter((write) => write.startsWith('POST claim-key-'))).toHaveLength(1)
  })

  test('a repetition gives the same data, also the secret part, for one write', async () => {
    await setup({ count: 1, template: TEMPLATE + SECRET_RETURN })
    const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    await fixture.warm(1)
    const first = await fixture.take(leader, { idempotencyKey: 'k', values: { user: 'ada' } })
    expect(Object.keys(first.data).toSorted()).toEqual(['host', 'password'])
    fixture.takeWrites()
    expect(await fixture.take(follower, { idempotencyKey: 'k', values: { user: 'ada' } })).toEqual(first)
    expect(fixture.takeWrites().filter((write) => write.endsWith(first.id))).toEqual([`PATCH claim-${first.id}`])
  })

  test('the key of one user never gives the claim of another', async () => {
    await setup({ count: 2 })
    const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    const adas = await fixture.take(leader, { idempotencyKey: 'k', user: 'ada' })
    const eves = await fixture.take(follower, { idempotencyKey: 'k', user: 'eve' })
    expect(eves.id).not.toBe(adas.id)
    expect((await fixture.take(follower, { idempotencyKey: 'k', user: 'ada' })).id).toBe(adas.id)
  })

  test.each([
    ['another TTL', { ttl: MINUTE }],
    ['other values', { values: { user: 'eve' } }],
  ])('a repetition with %s is 409, from any replica', async (_, change) => {
    await setup({ count: 1 })
    const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    await fixture.warm(1)
    await fixture.take(leader, { idempotencyKey: 'k' })
    for (const replica of [leader, follower]) {
      await expect(fixture.take(replica, { idempotencyKey: 'k', ...change })).rejects.toMatchObject({ status: 409 })
    }
    expect(await claimed()).toHaveLength(1)
  })

  test('the key is free again when the claim is released or has expired', async () => {
    const { clock } = await setup({ count: 1 })
    const replica = await fixture.replica()
    const request = { idempotencyKey: 'k', ttl: MINUTE }
    const first = await fixture.take(replica, request)
    await fixture.whilePassing(replica.service.release(first.id))
    const second = await fixture.take(replica, request)
    expect(second.id).not.toBe(first.id)
    await clock.advance(2 * MINUTE)
    expect((await fixture.take(replica, request)).id).not.toBe(second.id)
  })

  test('the key and the values cannot be read from any ConfigMap', async () => {
    await setup({ count: 1 })
    const replica = await fixture.replica()
    await fixture.take(replica, { idempotencyKey: 'order-4711', values: { user: 'hunter2' } })
    const { items } = await fixture.api.list(ConfigMap, { namespace: 'default' })
    expect(JSON.stringify(items)).not.toMatch(/order-4711|hunter2/)
  })

  test('a repetition while the first caller leaves gets a claim that lives', { timeout: 120_000 }, async () => {
    const { clock } = await setup({
      template: TEMPLATE.replace('annotations:', 'annotations:\n    tenure.dev/simulate-ready: 5s'),
    })
    const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    for (const second of [leader, follower]) {
      for (let delay = 0; delay < 30; delay += 3) {
        const caller = new AbortController()
        const key = `k-${delay}-${second === leader ? 'same' : 'other'}`
        const first = fixture.take(leader, { idempotencyKey: key, signal: caller.signal })
        first.catch(() => undefined)
        await clock.advance(1_000)
        const again = fixture.take(second, { idempotencyKey: key })
        await clock.advance(delay)
        caller.abort(new Error('has left'))
        await expect(first).rejects.toThrow('has left')
        const { id } = await again
        await clock.advance(3_000)
        expect((await claimed()).map((claim) => claim.id)).toEqual([id])
        await fixture.whilePassing(leader.service.release(id))
      }
    }
  })
})

test('one key never gives two claims, whatever responses are lost between the replicas and the API server', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
      const random = seededRandom(seed)
      await setup({ count: 3 })
      let isOn = false
      const faults = ({ method, path }: TransportRequest): Fault | undefined => {
        if (!isOn || path.includes('watch=') || random.fraction() > 0.2) return undefined
        return method !== 'GET' && random.fraction() < 0.6
          ? { isResponseLost: true }
          : { delay: random.fraction() * 500 }
      }
      const replicas = [
        await fixture.replica({ faults, seed }),
        await fixture.replica({ leads: false, faults, seed: seed + 1 }),
      ]
      await fixture.warm(3)
      isOn = true
      const answers: TakenClaim[] = []
      // A client that repeats its call until it is answered, over both replicas at once.
      const client = async (number: number): Promise<void> => {
        for (let attempt = 0; attempt < 20; attempt++) {
          const replica = replicas[(number + attempt) % 2]
          const taken = replica && (await fixture.take(replica, { idempotencyKey: 'k' }).catch(() => undefined))
          if (taken) return void answers.push(taken)
        }
      }
      await Promise.all([0, 1, 2, 3].map(client))
      isOn = false
      expect(answers).toHaveLength(4)
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
      await fixture.clock.advance(65_000)
      expect((await claimed()).map(({ id }) => id)).toEqual([answers[0]?.id])
      await fixture.close()
    }),
    { numRuns: 5, seed: 15, endOnFailure: true },
  )
  await setup({ count: 0 })
}, 60_000)
