import { ConfigMap } from '@tenure/kube/kinds'
import { refuse } from '@tenure/runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SEED, World } from '../../testing/lease-harness.ts'

let world: World
beforeEach(() => {
  world = new World()
})
afterEach(() => world.stop())

const count = (verb: string): number =>
  world.server.requests.filter((request) => request.plural === 'configmaps' && request.verb === verb).length

async function leases(many: number): Promise<void> {
  await world.start()
  for (let index = 0; index < many; index++) world.create(`n${index}`, { [`${SEED}ttl`]: '60s' })
  await world.clock.advance(30_000)
  world.server.delayAnswers(() => 5)
  world.server.clearRequests()
}

describe('many leases that end together', () => {
  it('are read by a list, and deleted each exactly as read', async () => {
    await leases(500)
    await world.clock.advance(35_000)
    expect(world.server.objects(ConfigMap)).toEqual([])
    expect(count('delete')).toBe(500)
    expect(count('get')).toBeLessThan(60)
    expect(count('list')).toBeLessThanOrEqual(2)
  })

  it('are kept if they were extended after the list', async () => {
    await leases(500)
    let deletions = 0
    world.server.intercept(({ verb }) => {
      // In the midst of it, behind the list and before their own deletion.
      if (verb === 'delete' && ++deletions === 100) {
        for (let index = 0; index < 500; index += 7) {
          if (!world.object(`n${index}`)) continue
          world.annotate(`n${index}`, { [`${SEED}extended-at`]: new Date(world.clock.now()).toISOString() })
        }
      }
      return undefined
    })
    await world.clock.advance(40_000)
    const kept = world.server.objects(ConfigMap).map(({ metadata }) => metadata.annotations?.[`${SEED}extended-at`])
    expect(kept.length).toBeGreaterThan(30)
    expect(kept).not.toContain(undefined)
    await world.clock.advance(60_000)
    expect(world.server.objects(ConfigMap)).toEqual([])
  })

  it('are read one by one when the list is refused', async () => {
    await leases(200)
    world.server.intercept(({ verb }) => (verb === 'list' ? refuse(500, 'InternalError', 'no') : undefined))
    await world.clock.advance(40_000)
    expect(world.server.objects(ConfigMap)).toEqual([])
    expect(count('get')).toBeGreaterThanOrEqual(200)
  })

  it('are not worth a list of a namespace with many others', async () => {
    await world.start()
    for (let index = 0; index < 100; index++) world.create(`n${index}`, { [`${SEED}ttl`]: '60s' })
    for (let index = 0; index < 900; index++) world.create(`other${index}`, {})
    await world.clock.advance(30_000)
    world.server.delayAnswers(() => 5)
    world.server.clearRequests()
    await world.clock.advance(35_000)
    expect(world.server.objects(ConfigMap)).toHaveLength(900)
    expect(count('list')).toBe(0)
  })

  it('are not deleted early by a list, with a clock that runs ahead', async () => {
    await leases(300)
    world.ahead = 20_000
    await world.clock.advance(25_000)
    expect(world.server.objects(ConfigMap)).toHaveLength(300)
    expect(count('delete')).toBe(0)
    await world.clock.advance(15_000)
    expect(world.server.objects(ConfigMap)).toEqual([])
  })
})
