import { ConfigMap } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SEED, LeaseHarness } from '../../testing/lease-harness.ts'

let harness: LeaseHarness
beforeEach(async () => {
  harness = await LeaseHarness.create()
})
afterEach(() => harness.stop())

const count = (verb: string): number =>
  harness.server.requests.filter((request) => request.plural === 'configmaps' && request.verb === verb).length

async function leases(many: number): Promise<void> {
  await harness.start()
  for (let index = 0; index < many; index++) harness.create(`n${index}`, { [`${SEED}ttl`]: '60s' })
  await harness.clock.advance(30_000)
  harness.server.delayResponses(() => 5)
  harness.server.clearRequests()
}

describe('many leases that end together', () => {
  test('many expired leases are read by lists and deleted one by one as read', async () => {
    await leases(500)
    await harness.clock.advance(35_000)
    expect(harness.server.objects(ConfigMap)).toEqual([])
    expect(count('delete')).toBe(500)
    expect(count('get')).toBeLessThan(60)
    expect(count('list')).toBeLessThanOrEqual(2)
  })

  test('a lease that is extended after the list is kept', async () => {
    await leases(500)
    let deletions = 0
    harness.server.intercept(({ verb }) => {
      // In the midst of it, behind the list and before their own deletion.
      if (verb === 'delete' && ++deletions === 100) {
        for (let index = 0; index < 500; index += 7) {
          if (!harness.object(`n${index}`)) continue
          harness.annotate(`n${index}`, { [`${SEED}extended-at`]: new Date(harness.clock.now()).toISOString() })
        }
      }
      return undefined
    })
    await harness.clock.advance(40_000)
    const kept = harness.server.objects(ConfigMap).map(({ metadata }) => metadata.annotations?.[`${SEED}extended-at`])
    expect(kept.length).toBeGreaterThan(30)
    expect(kept).not.toContain(undefined)
    await harness.clock.advance(60_000)
    expect(harness.server.objects(ConfigMap)).toEqual([])
  })

  test('leases are read one by one when the list fails', async () => {
    await leases(200)
    harness.server.intercept(({ verb }) => (verb === 'list' ? refuse(500, 'InternalError', 'no') : undefined))
    await harness.clock.advance(40_000)
    expect(harness.server.objects(ConfigMap)).toEqual([])
    expect(count('get')).toBeGreaterThanOrEqual(200)
  })

  test('a namespace with mostly other objects is not listed', async () => {
    await harness.start()
    for (let index = 0; index < 100; index++) harness.create(`n${index}`, { [`${SEED}ttl`]: '60s' })
    for (let index = 0; index < 900; index++) harness.create(`other${index}`, {})
    await harness.clock.advance(30_000)
    harness.server.delayResponses(() => 5)
    harness.server.clearRequests()
    await harness.clock.advance(35_000)
    expect(harness.server.objects(ConfigMap)).toHaveLength(900)
    expect(count('list')).toBe(0)
  })

  test('a list does not delete leases early when the local clock runs ahead', async () => {
    await leases(300)
    harness.clockOffset = 20_000
    await harness.clock.advance(25_000)
    expect(harness.server.objects(ConfigMap)).toHaveLength(300)
    expect(count('delete')).toBe(0)
    await harness.clock.advance(60_000)
    expect(harness.server.objects(ConfigMap)).toEqual([])
  })
})
