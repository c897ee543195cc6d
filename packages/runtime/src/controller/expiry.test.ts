import { defineKind, type KubeObject, type Stored } from '@tenure/kube'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { event, patch, readLive, remove } from '../actions/index.ts'
import { refuse } from '../testing/responses.ts'
import { World } from './fixture.testing.ts'
import { controller, type ControllerOptions } from './index.ts'

interface Ticket extends KubeObject {
  readonly spec: { readonly expires?: string; readonly note?: string }
}
const Ticket = defineKind<Ticket>({ apiVersion: 'example.dev/v1', kind: 'Ticket' })
const ref = { name: 'one', namespace: 'default' }

let world: World
beforeEach(() => (world = new World()))
afterEach(async () => await world.end())

const seed = (after: number, name = 'one') =>
  world.server.seed(Ticket, {
    metadata: { name, namespace: 'default' },
    spec: { expires: new Date(world.clock.now() + after).toISOString() },
  })
const stored = () => world.server.peek(Ticket, ref)
const expiresAt = ({ spec }: Stored<Ticket>) => (spec.expires === undefined ? undefined : Date.parse(spec.expires))
const start = (options: Partial<ControllerOptions<Ticket>> = {}) =>
  world.start(controller(Ticket, { expiresAt, ...options }))

describe('an object that expires', () => {
  test('an object is deleted in exactly the state that was read, when its time has come and not before', async () => {
    seed(60_000)
    const { runner } = await start()
    await world.settle()
    world.server.clearRequests()
    expect(runner.expiring).toBe(1)
    expect(runner.nextExpiry).toBe(world.clock.now() + Date.parse(stored()?.spec.expires ?? '') - world.clock.now())
    await world.clock.advance(Date.parse(stored()?.spec.expires ?? '') - world.clock.now() - 1)
    expect(world.calls).toEqual([])
    await world.until(() => stored() === undefined)
    expect(world.calls).toEqual(['get tickets/one', 'delete tickets/one'])
    expect(JSON.stringify(world.server.requests.find(({ verb }) => verb === 'delete'))).toContain('resourceVersion')
    await world.settle()
    expect(runner.expiring).toBe(0)
  })

  test('an object is kept if an extension comes between the read and the delete', async () => {
    seed(1_000)
    await start()
    const stop = world.server.intercept(({ verb }) => {
      if (verb === 'delete') {
        stop()
        seed(600_000)
      }
      return undefined
    })
    await world.clock.advance(30_000)
    await world.settle()
    expect(stored()).toBeDefined()
    await world.clock.advance(600_000)
    await world.until(() => stored() === undefined)
  })

  test('an object is kept while the wall clock of the process is ahead of the server', async () => {
    seed(600_000)
    const ahead = 3_600_000
    const clock = {
      now: () => world.clock.now() + ahead,
      monotonic: () => world.clock.monotonic(),
      setTimer: (delay: number, callback: () => void) => world.clock.setTimer(delay, callback),
    }
    await world.start(controller(Ticket, { expiresAt }), { clock })
    await world.clock.advance(599_000)
    expect(stored()).toBeDefined()
    await world.clock.advance(2_000)
    await world.until(() => stored() === undefined)
  })

  test('an object is kept if the wall clock jumps back before its time', async () => {
    seed(10_000)
    await start()
    await world.settle()
    world.clock.jump(-60_000)
    await world.clock.advance(30_000)
    expect(stored()).toBeDefined()
    await world.clock.advance(60_000)
    await world.until(() => stored() === undefined)
  })

  test('an expiry is retried with backoff if its deletion is refused', async () => {
    seed(1_000)
    let refusals = 3
    world.server.intercept(({ verb }) =>
      verb === 'delete' && refusals-- > 0 ? refuse(503, 'ServiceUnavailable') : undefined,
    )
    await start({ backoff: { base: 10, max: 100 } })
    await world.until(() => stored() === undefined)
    expect(world.linesAt('warn')).toHaveLength(3)
  })

  test('an object is left alone while it is terminating', async () => {
    seed(1_000)
    world.server.seed(Ticket, { metadata: { ...ref, finalizers: ['a/b'] }, spec: stored()?.spec ?? {} })
    await start()
    await world.until(() => stored()?.metadata.deletionTimestamp !== undefined)
    await world.settle()
    world.server.clearRequests()
    await world.clock.advance(60_000)
    expect(world.calls).toEqual([])
  })
})

describe('expire', () => {
  test('expire decides on the object as it was read, and an empty answer costs no request', async () => {
    seed(1_000)
    await start({
      expire: ({ object }) => (object.spec.note ? [] : [patch(Ticket, object, { spec: { note: 'kept' } })]),
    })
    await world.until(() => stored()?.spec.note === 'kept')
    await world.settle()
    const calls = world.calls.length
    await world.clock.advance(600_000)
    expect(world.calls).toHaveLength(calls)
    expect(stored()).toBeDefined()
  })

  test('the controller carries out what belongs to a removal only if it removed the object', async () => {
    seed(1_000)
    const afterwards = [event({ type: 'Normal', reason: 'Expired', message: 'It is gone.' })]
    await start({ expire: ({ object }) => [remove(Ticket, object, { afterwards })] })
    await world.until(() => stored() === undefined)
    await world.settle()
    expect(world.events.map(({ reason }) => reason)).toEqual(['Expired'])
    seed(1_000)
    const stop = world.server.intercept(({ verb }) => {
      if (verb !== 'delete') return undefined
      stop()
      world.server.unseed(Ticket, ref)
      return undefined
    })
    await world.clock.advance(5_000)
    await world.settle()
    expect(stored()).toBeUndefined()
    expect(world.events).toHaveLength(1)
  })
})

test('many objects of a namespace that expire together are read by a list', async () => {
  for (let index = 0; index < 200; index++) seed(5_000, `ticket-${index}`)
  await start({ concurrency: 32 })
  await world.settle()
  world.server.clearRequests()
  await world.clock.advance(5_000)
  await world.until(() => world.server.objects(Ticket).length === 0)
  const count = (verb: string) => world.server.requests.filter((request) => request.verb === verb).length
  expect(count('delete')).toBe(200)
  expect(count('get')).toBeLessThan(40)
  expect(count('list')).toBeLessThan(5)
})

describe('readLive', () => {
  test('the controller plans again with the object and the time of the API server', async () => {
    seed(600_000)
    const seen: boolean[] = []
    await start({
      plan: ({ isLive, now, object }) => {
        seen.push(isLive)
        if (object.spec.note) return []
        return isLive ? [patch(Ticket, object, { spec: { note: String(now % 1_000) } })] : [readLive()]
      },
    })
    await world.until(() => stored()?.spec.note !== undefined)
    expect(stored()?.spec.note).toBe('0')
    await world.settle()
    expect(seen).toEqual([false, true, false])
  })

  test('a second readLive is a bug, and nothing is written', async () => {
    seed(600_000)
    await start({ plan: () => [readLive()] })
    await world.until(() => world.linesAt('error').length > 0)
    expect(world.linesAt('error')[0]?.['error']).toMatchObject({ code: 'TENURE_PLAN_READ_LIVE' })
  })
})
