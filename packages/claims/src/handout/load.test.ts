import type { Stored } from '@tenure/kube'
import { ConfigMap, Pod } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { type Claim, claimOf } from '../api/claim.ts'
import { CLAIM_SELECTOR, LABELS } from '../api/names.ts'
import { ClaimsFixture, MINUTE, NAMESPACE, type PoolFixture, type Replica } from '../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pool: PoolFixture): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create({ default: pool })
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const TARGET = 20
const CONCURRENCY = 32

/** Collects the states of each claim that the watch of the API server shows. */
class Observer {
  readonly handOuts = new Map<string, Set<string>>()
  readonly gone = new Map<string, { readonly claim: Claim; readonly at: number }>()
  readonly #end = new AbortController()
  readonly #watching: Promise<void>

  constructor() {
    this.#watching = this.#watch()
  }

  async #watch(): Promise<void> {
    const options = { namespace: NAMESPACE, labelSelector: CLAIM_SELECTOR, signal: this.#end.signal }
    try {
      for await (const batch of fixture.api.watch(ConfigMap, options)) {
        for (const event of batch) if (event.type !== 'BOOKMARK') this.#observe(event.object, event.type === 'DELETED')
      }
    } catch (error) {
      if (!this.#end.signal.aborted) throw error
    }
  }

  #observe(object: Stored<ConfigMap>, isDeleted: boolean): void {
    const claim = claimOf(object)
    if (!claim) return
    if (claim.handOut !== undefined) {
      const nonces = this.handOuts.get(claim.id) ?? new Set()
      this.handOuts.set(claim.id, nonces.add(claim.handOut))
    }
    if (isDeleted) this.gone.set(claim.id, { claim, at: fixture.clock.now() })
  }

  async end(): Promise<void> {
    this.#end.abort()
    await this.#watching
  }
}

describe('three replicas, a pool of 20 and many claims, 32 at a time', () => {
  test.each([
    ['a replica that serves calls', 500, 1],
    ['the leader', 150, 0],
  ])(
    'every invariant holds when %s is killed during %i claims',
    async (_, calls, killed) => {
      const { clock } = await setup({ count: TARGET })
      const replicas: Replica[] = [
        await fixture.replica({ seed: 1 }),
        await fixture.replica({ leads: false, seed: 2 }),
        await fixture.replica({ leads: false, seed: 3 }),
      ]
      await fixture.warm(TARGET)
      const observer = new Observer()
      const released = new Set<string>()
      const answered = new Set<string>()
      let started = 0
      let failed = 0
      const call = async (number: number): Promise<void> => {
        const replica = replicas[number % replicas.length]
        const signal = new AbortController().signal
        const request = {
          pool: 'default',
          ttl: MINUTE,
          values: undefined,
          idempotencyKey: undefined,
          caller: 'me',
          signal,
        }
        const taken = await replica?.service.take(request).catch(() => undefined)
        if (!taken) return void failed++
        expect(answered.has(taken.id)).toBe(false)
        answered.add(taken.id)
        expect(replicas.some(({ view }) => view.get(taken.id)?.status === 'ready')).toBe(true)
        // Every third caller forgets its claim.
        if (number % 3 === 0) return
        await new Promise<void>((resolve) => clock.setTimer(200, resolve))
        released.add(taken.id)
        const alive = replicas.find((each) => each !== replica) ?? replica
        await alive?.service.release(taken.id)
      }
      const client = async (): Promise<void> => {
        while (started < calls) await call(started++)
      }
      const load = Promise.all(Array.from({ length: CONCURRENCY }, client))
      await clock.advanceUntil(() => started > calls / 3)
      const victim = replicas.splice(killed, 1)[0]
      victim?.transport.crash()
      if (killed === 0) replicas.push(await fixture.replica({ seed: 4 }))
      await fixture.whilePassing(load)
      await victim?.stop()
      await clock.advance(3 * MINUTE)
      await fixture.warm(TARGET)
      await observer.end()
      const claims = await fixture.claims()
      // The pool is at its target, everything else is gone, with its children.
      expect(claims.map(({ isIdle }) => isIdle)).toEqual(Array.from({ length: TARGET }, () => true))
      const names = new Set(claims.map(({ object }) => object.metadata.name))
      const orphans = [...(await fixture.children(Pod)), ...(await fixture.children(ConfigMap))].filter(
        ({ metadata }) => !names.has(metadata.labels?.[LABELS.claim] ?? ''),
      )
      expect(orphans).toEqual([])
      // No claim was handed out twice.
      for (const nonces of observer.handOuts.values()) expect(nonces.size).toBe(1)
      for (const id of answered) expect(observer.handOuts.has(id)).toBe(true)
      // Nothing that a caller has was deleted before its time, unless it was released.
      const early = [...observer.gone.values()].filter(
        ({ at, claim }) => answered.has(claim.id) && !released.has(claim.id) && at < (claim.expiresAt ?? Infinity),
      )
      expect(early).toEqual([])
      expect(answered.size + failed).toBe(calls)
      // Only calls of the killed replica may fail.
      expect(failed).toBeLessThanOrEqual(CONCURRENCY)
    },
    60_000,
  )
})

test('two leaders at the same time end with exactly the target', async () => {
  const { clock } = await setup({ count: 6 })
  await Promise.all([fixture.replica({ seed: 1 }), fixture.replica({ seed: 2 })])
  await clock.advance(20_000)
  expect((await fixture.idle()).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'ready'))
})
