import { type Clock, defineKind, type KubeObject, type Stored } from '@tenure/kube'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { event, patch, readLive, remove } from '../actions/index.ts'
import { jsonResponse, refuse } from '../testing/responses.ts'
import { ControllerFixture } from './fixture.testing.ts'
import { controller, type ControllerOptions } from './index.ts'

interface Ticket extends KubeObject {
  readonly spec: { readonly expires?: string; readonly note?: string }
}
const Ticket = defineKind<Ticket>({ apiVersion: 'example.dev/v1', kind: 'Ticket' })
const ref = { name: 'one', namespace: 'default' }

let fixture: ControllerFixture
beforeEach(() => (fixture = new ControllerFixture()))
afterEach(async () => await fixture.end())

const seed = (after: number, name = 'one') =>
  fixture.server.seed(Ticket, {
    metadata: { name, namespace: 'default' },
    spec: { expires: new Date(fixture.clock.now() + after).toISOString() },
  })
const stored = () => fixture.server.peek(Ticket, ref)
const expiresAt = ({ spec }: Stored<Ticket>) => (spec.expires === undefined ? undefined : Date.parse(spec.expires))
const start = (options: Partial<ControllerOptions<Ticket>> = {}) =>
  fixture.start(controller(Ticket, { expiresAt, ...options }))

/** A clock whose wall time differs from the server's. */
const shiftedClock = (by: number): Clock => ({
  now: () => fixture.clock.now() + by,
  monotonic: () => fixture.clock.monotonic(),
  setTimer: (delay, callback) => fixture.clock.setTimer(delay, callback),
})

describe('an object that expires', () => {
  test('an object is deleted in exactly the state that was read, when its time has come and not before', async () => {
    seed(60_000)
    const { runner } = await start()
    await fixture.settle()
    fixture.server.clearRequests()
    expect(runner.expiring).toBe(1)
    expect(runner.nextExpiry).toBe(fixture.clock.now() + Date.parse(stored()?.spec.expires ?? '') - fixture.clock.now())
    await fixture.clock.advance(Date.parse(stored()?.spec.expires ?? '') - fixture.clock.now() - 1)
    expect(fixture.calls).toEqual([])
    await fixture.until(() => stored() === undefined)
    expect(fixture.calls).toEqual(['get tickets/one', 'delete tickets/one'])
    expect(JSON.stringify(fixture.server.requests.find(({ verb }) => verb === 'delete'))).toContain('resourceVersion')
    await fixture.settle()
    expect(runner.expiring).toBe(0)
  })

  test('an object is kept if an extension comes between the read and the delete', async () => {
    seed(1_000)
    await start()
    const stop = fixture.server.intercept(({ verb }) => {
      if (verb === 'delete') {
        stop()
        seed(600_000)
      }
      return undefined
    })
    await fixture.clock.advance(30_000)
    await fixture.settle()
    expect(stored()).toBeDefined()
    await fixture.clock.advance(600_000)
    await fixture.until(() => stored() === undefined)
  })

  test('an object is kept while the wall clock of the process is ahead of the server', async () => {
    seed(600_000)
    await fixture.start(controller(Ticket, { expiresAt }), { clock: shiftedClock(3_600_000) })
    await fixture.clock.advance(599_000)
    expect(stored()).toBeDefined()
    await fixture.clock.advance(2_000)
    await fixture.until(() => stored() === undefined)
  })

  test('a new object of the same name is kept if it replaces an expired one before the delete', async () => {
    seed(1_000)
    await start()
    const stop = fixture.server.intercept(({ verb }) => {
      if (verb === 'delete') {
        stop()
        fixture.server.unseed(Ticket, ref)
        seed(600_000)
      }
      return undefined
    })
    await fixture.clock.advance(30_000)
    await fixture.settle()
    expect(stored()).toBeDefined()
  })

  test('an object is deleted at the next full second, because the Date header has no fractions', async () => {
    const due = fixture.clock.now() + 700
    seed(700)
    await start()
    await fixture.clock.advance(due + 299 - fixture.clock.now())
    expect(stored()).toBeDefined()
    await fixture.clock.advance(1)
    await fixture.until(() => stored() === undefined)
    expect(fixture.clock.now()).toBeLessThanOrEqual(due + 600)
  })

  test('an object is kept if the response has no Date header', async () => {
    seed(1_000)
    fixture.server.intercept(({ verb }) =>
      verb === 'get' ? { ...jsonResponse(200, stored()), headers: { date: '' } } : undefined,
    )
    await start()
    await fixture.until(() => fixture.linesAt('error').length + fixture.linesAt('warn').length > 0)
    const [line] = [...fixture.linesAt('error'), ...fixture.linesAt('warn')]
    expect(line?.['error']).toMatchObject({ code: 'TENURE_EXPIRY_NO_SERVER_TIME' })
    expect(stored()).toBeDefined()
  })

  test('an object is kept if the wall clock jumps back before its time', async () => {
    seed(10_000)
    await start()
    await fixture.settle()
    fixture.clock.jump(-60_000)
    await fixture.clock.advance(30_000)
    expect(stored()).toBeDefined()
    await fixture.clock.advance(60_000)
    await fixture.until(() => stored() === undefined)
  })

  test('an object outlives a wall clock that jumps ahead and back, also by the server', async () => {
    seed(3_600_000)
    await start()
    await fixture.settle()
    const due = Date.parse(stored()?.spec.expires ?? '')
    fixture.clock.jump(7_200_000)
    await fixture.clock.advance(2_500)
    fixture.clock.jump(-7_200_000)
    expect(stored()).toBeDefined()
    expect(fixture.linesAt('warn').map(({ message }) => message)).toEqual(['the clock has jumped, holding deletions'])
    await fixture.clock.advance(due - fixture.clock.now() - 1)
    expect(stored()).toBeDefined()
    await fixture.until(() => stored() === undefined)
    expect(fixture.clock.now() - due).toBeLessThan(2_000)
  })

  test('a wall clock that is corrected delays a deletion by a minute and not for ever', async () => {
    seed(3_600_000)
    await start()
    await fixture.settle()
    // A correction, or the sleep of the machine: the monotonic clock stands still meanwhile.
    fixture.clock.jump(7_200_000)
    await fixture.clock.advance(60_000)
    expect(stored()).toBeDefined()
    await fixture.clock.advance(1_000)
    await fixture.until(() => stored() === undefined)
  })

  test('each further jump holds deletions for another minute', async () => {
    seed(1_000)
    await start()
    for (let jump = 0; jump < 5; jump++) {
      fixture.clock.jump(10_000)
      await fixture.clock.advance(50_000)
    }
    expect(stored()).toBeDefined()
    await fixture.clock.advance(60_000)
    await fixture.until(() => stored() === undefined)
  })

  test('a clock that is slowed down or sped up holds nothing', async () => {
    seed(600_000)
    await start()
    await fixture.settle()
    const due = Date.parse(stored()?.spec.expires ?? '')
    // The 500 ppm of a time daemon.
    while (fixture.clock.now() < due) {
      await fixture.clock.advance(1_000)
      fixture.clock.jump(0.5)
    }
    await fixture.until(() => stored() === undefined)
    expect(fixture.clock.now() - due).toBeLessThan(3_000)
  })

  test('a due deletion honours Retry-After', async () => {
    seed(1_000)
    const attempts: number[] = []
    fixture.server.intercept(({ verb }) => {
      if (verb !== 'delete') return undefined
      attempts.push(fixture.clock.monotonic())
      return attempts.length === 1 ? refuse(429, 'TooManyRequests', 'later', 5) : undefined
    })
    await start({ backoff: { base: 10, max: 100 } })
    await fixture.clock.advance(20_000)
    expect(stored()).toBeUndefined()
    expect((attempts[1] ?? 0) - (attempts[0] ?? 0)).toBeGreaterThanOrEqual(5_000)
  })

  test.each(['Foreground', 'Background', 'Orphan'] as const)(
    'a due deletion passes propagation %s on',
    async (propagation) => {
      seed(1_000)
      const bodies: unknown[] = []
      fixture.server.intercept(({ verb, body }) => {
        if (verb === 'delete') bodies.push(body)
        return undefined
      })
      await start({ expire: ({ object }) => [remove(Ticket, object, { propagation })] })
      await fixture.until(() => bodies.length > 0)
      expect(bodies).toMatchObject([
        {
          propagationPolicy: propagation,
          preconditions: { uid: expect.any(String), resourceVersion: expect.any(String) },
        },
      ])
    },
  )

  test('an object is deleted after changes that do not matter', async () => {
    seed(1_000)
    const { expires } = stored()?.spec ?? {}
    let changes = 3
    fixture.server.intercept(({ verb }) => {
      if (verb === 'delete' && changes-- > 0)
        fixture.server.seed(Ticket, { metadata: ref, spec: { ...(expires && { expires }), note: String(changes) } })
      return undefined
    })
    await start()
    await fixture.until(() => stored() === undefined)
    expect(changes).toBeLessThan(0)
  })

  test('an object is kept while the clock of the process is behind', async () => {
    seed(1_000)
    await fixture.start(controller(Ticket, { expiresAt }), { clock: shiftedClock(-60_000) })
    await fixture.clock.advance(60_000)
    expect(stored()).toBeDefined()
    await fixture.clock.advance(3_000)
    await fixture.until(() => stored() === undefined)
  })

  test('objects that are slow to fail do not delay others', async () => {
    for (let index = 0; index < 20; index++) seed(1_000, `slow-${index}`)
    fixture.server.intercept(({ verb, name }) =>
      verb === 'delete' && name.startsWith('slow-')
        ? new Promise((resolve) => void fixture.clock.setTimer(20_000, () => resolve(refuse(503, 'Unavailable'))))
        : undefined,
    )
    await start({ backoff: { base: 10, max: 100 } })
    await fixture.clock.advance(300_000)
    seed(1_000)
    const before = fixture.clock.monotonic()
    await fixture.until(() => stored() === undefined)
    expect(fixture.clock.monotonic() - before).toBeLessThan(3_000)
  })

  test('an expiry is retried with backoff if its deletion is refused', async () => {
    seed(1_000)
    let refusals = 3
    fixture.server.intercept(({ verb }) =>
      verb === 'delete' && refusals-- > 0 ? refuse(503, 'ServiceUnavailable') : undefined,
    )
    await start({ backoff: { base: 10, max: 100 } })
    await fixture.until(() => stored() === undefined)
    expect(fixture.linesAt('warn')).toHaveLength(3)
  })

  test('an object is left alone while it is terminating', async () => {
    seed(1_000)
    fixture.server.seed(Ticket, { metadata: { ...ref, finalizers: ['a/b'] }, spec: stored()?.spec ?? {} })
    await start()
    await fixture.until(() => stored()?.metadata.deletionTimestamp !== undefined)
    await fixture.settle()
    fixture.server.clearRequests()
    await fixture.clock.advance(60_000)
    expect(fixture.calls).toEqual([])
  })
})

describe('expire', () => {
  test('expire decides on the object as it was read, and an empty answer costs no request', async () => {
    seed(1_000)
    await start({
      expire: ({ object }) => (object.spec.note ? [] : [patch(Ticket, object, { spec: { note: 'kept' } })]),
    })
    await fixture.until(() => stored()?.spec.note === 'kept')
    await fixture.settle()
    const calls = fixture.calls.length
    await fixture.clock.advance(600_000)
    expect(fixture.calls).toHaveLength(calls)
    expect(stored()).toBeDefined()
  })

  test('the controller carries out what belongs to a removal only if it removed the object', async () => {
    seed(1_000)
    const afterwards = [event({ type: 'Normal', reason: 'Expired', message: 'It is gone.' })]
    await start({ expire: ({ object }) => [remove(Ticket, object, { afterwards })] })
    await fixture.until(() => stored() === undefined)
    await fixture.settle()
    expect(fixture.events.map(({ reason }) => reason)).toEqual(['Expired'])
    seed(1_000)
    const stop = fixture.server.intercept(({ verb }) => {
      if (verb !== 'delete') return undefined
      stop()
      fixture.server.unseed(Ticket, ref)
      return undefined
    })
    await fixture.clock.advance(5_000)
    await fixture.settle()
    expect(stored()).toBeUndefined()
    expect(fixture.events).toHaveLength(1)
  })
})

test('many objects of a namespace that expire together are read by a list', async () => {
  for (let index = 0; index < 200; index++) seed(5_000, `ticket-${index}`)
  await start({ concurrency: 32 })
  await fixture.settle()
  fixture.server.clearRequests()
  await fixture.clock.advance(5_000)
  await fixture.until(() => fixture.server.objects(Ticket).length === 0)
  const count = (verb: string) => fixture.server.requests.filter((request) => request.verb === verb).length
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
    await fixture.until(() => stored()?.spec.note !== undefined)
    expect(stored()?.spec.note).toBe('0')
    await fixture.settle()
    expect(seen).toEqual([false, true, false])
  })

  test('a second readLive is a bug, and nothing is written', async () => {
    seed(600_000)
    await start({ plan: () => [readLive()] })
    await fixture.until(() => fixture.linesAt('error').length > 0)
    expect(fixture.linesAt('error')[0]?.['error']).toMatchObject({ code: 'TENURE_PLAN_READ_LIVE' })
  })
})
