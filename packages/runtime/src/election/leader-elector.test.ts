import type { Transport } from '@tenure/kube'
import { VirtualClock, settle } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { MemoryApi } from '../testing/memory-api.ts'
import { refuse } from '../testing/responses.ts'
import { Candidate } from './candidates.testing.ts'
import { fenced } from './fenced.ts'
import { LeaderElector } from './leader-elector.ts'
import { electionLease } from './lease.ts'

const ref = { namespace: 'default', name: 'test' }

function setup() {
  const clock = new VirtualClock()
  const api = new MemoryApi({ clock })
  const candidate = (identity: string, options: ConstructorParameters<typeof Candidate>[3] = {}) =>
    new Candidate(clock, api, identity, options)
  return { clock, api, candidate, lease: () => api.peek(electionLease, ref) }
}

describe('LeaderElector', () => {
  test('the Lease has the fields that client-go writes', async () => {
    const { clock, candidate, lease } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    expect(lease()?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
    await clock.advance(2_000)
    expect(lease()?.spec).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:02.000000Z',
      leaseTransitions: 0,
    })
    expect(a.events).toEqual(['leader a', 'started'])
    expect(a.elector.leader()).toMatchObject({ identity: 'a', isLeader: true, holder: 'a', error: undefined })
  })

  test('a leader sends one request per retry period, and a follower only reads', async () => {
    const { clock, api, candidate } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    api.clearRequests()
    await clock.advance(60_000)
    expect(api.requests.map(({ verb }) => verb)).toEqual(Array.from({ length: 30 }, () => 'update'))
    candidate('b').start()
    api.clearRequests()
    await clock.advance(60_000)
    const reads = api.requests.filter(({ verb }) => verb === 'get').length
    expect(reads).toBeGreaterThanOrEqual(33)
    expect(reads).toBeLessThanOrEqual(51)
  })

  test('the Lease of a process that is proved to have ended is taken at once, and no other', async () => {
    const { clock, candidate, lease } = setup()
    const dead = candidate('dead').start()
    await clock.advanceUntil(() => dead.leads)
    dead.process.kill()
    const heir = candidate('heir', { isEnded: (identity) => identity === 'dead' }).start()
    const began = clock.monotonic()
    await clock.advanceUntil(() => heir.leads)
    expect(clock.monotonic() - began).toBeLessThan(100)
    expect(lease()?.spec).toMatchObject({ holderIdentity: 'heir', leaseTransitions: 1 })
    const other = candidate('other', { isEnded: (identity) => identity === 'dead' }).start()
    await clock.advance(60_000)
    expect([heir.leads, other.leads]).toEqual([true, false])
  })

  test('fields of others on the Lease are kept', async () => {
    const { clock, api, candidate, lease } = setup()
    api.seed(electionLease, {
      metadata: { ...ref, labels: { team: 'x' } },
      spec: { strategy: 'OldestEmulationVersion', leaseTransitions: 3 } as object,
    })
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    expect(lease()).toMatchObject({
      metadata: { labels: { team: 'x' } },
      spec: { strategy: 'OldestEmulationVersion', holderIdentity: 'a', leaseTransitions: 4 },
    })
  })

  test('a clean stop hands over within two seconds after the work has ended', async () => {
    const { clock, candidate, lease } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    const b = candidate('b').start()
    await clock.advance(7_000)
    a.windDown = 30_000
    a.stop()
    await settle()
    expect(a.term?.aborted).toBe(true)
    // Stopping the work takes longer than the lease: the lease is held meanwhile.
    await clock.advance(29_999)
    expect([a.leads, a.elector.isLeader(), b.leads]).toEqual([true, true, false])
    await clock.advance(1)
    expect(a.outcome).toBe('stopped')
    expect(a.events.slice(-2)).toEqual(['wound down', 'stopped'])
    expect(lease()?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 })
    const released = clock.monotonic()
    await clock.advanceUntil(() => b.leads)
    expect(clock.monotonic() - released).toBeLessThanOrEqual(2_000)
    expect(lease()?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1, leaseDurationSeconds: 15 })
    b.stop()
    await settle()
    expect(clock.pending).toBe(0)
  })

  test('the lease is released even if the response to the last renewal was lost', async () => {
    const { clock, candidate, lease } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    a.process.fault = () => ({ back: 100 })
    await clock.advance(2_050)
    a.stop()
    await clock.advance(1_000)
    expect(a.outcome).toBe('stopped')
    expect(lease()?.spec?.holderIdentity).toBe('')
  })

  test('a lease that is acquired during the stop is released', async () => {
    const { clock, candidate, lease } = setup()
    const a = candidate('a')
    a.process.fault = (request) => (request.method === 'POST' ? { back: 500 } : {})
    a.start()
    await clock.advanceUntil(() => lease()?.spec?.holderIdentity === 'a')
    a.stop()
    await clock.advance(3_000)
    expect(lease()?.spec?.holderIdentity).toBe('')
    expect(a.events).not.toContain('started')
    expect(clock.pending).toBe(0)
  })

  test('a clean stop without releaseOnStop lets the lease expire', async () => {
    const { clock, candidate, lease } = setup()
    const a = candidate('a', { releaseOnStop: false }).start()
    await clock.advanceUntil(() => a.leads)
    a.stop()
    await settle()
    expect(a.outcome).toBe('stopped')
    expect(lease()?.spec?.holderIdentity).toBe('a')
  })

  test('a killed leader is replaced within lease + retry, whenever it dies', async () => {
    for (let moment = 0; moment < 2_000; moment += 130) {
      const { clock, candidate } = setup()
      const a = candidate('a').start()
      await clock.advanceUntil(() => a.leads)
      const b = candidate('b').start()
      await clock.advance(20_000 + moment)
      a.process.kill()
      const killed = clock.monotonic()
      await clock.advanceUntil(() => b.leads)
      expect(clock.monotonic() - killed).toBeLessThanOrEqual(17_000)
      expect(clock.monotonic() - killed).toBeGreaterThanOrEqual(12_000)
    }
  })

  test('a leader steps down after the renew deadline, counted from the start of the last renewal', async () => {
    const { clock, candidate, api } = setup()
    const a = candidate('a').start(true)
    a.process.fault = () => ({ back: 1_000 })
    await clock.advanceUntil(() => a.leads)
    // Created at 1 s (after a read), the response arrived at 2 s; the next renewal begins at 4 s.
    await clock.advanceUntil(() => api.requests.filter(({ verb }) => verb === 'update').length === 1)
    const began = clock.monotonic()
    await clock.advance(1_001)
    const end = api.intercept(() => 'drop')
    await clock.advance(began + 9_999 - clock.monotonic())
    expect([a.leads, a.term?.aborted]).toEqual([true, false])
    await clock.advance(1)
    expect([a.leads, a.term?.aborted, a.elector.isLeader()]).toEqual([false, true, false])
    expect(a.events.slice(-2)).toEqual(['lost', 'wound down'])
    expect(a.term?.reason).toMatchObject({ code: 'TENURE_ELECTION_LOST' })
    expect(a.elector.leader().error).toBeInstanceOf(Error)
    // The candidate keeps retrying and leads again when the API server is back.
    await clock.advance(600_000)
    expect(a.leads).toBe(false)
    end()
    const back = clock.monotonic()
    await clock.advanceUntil(() => a.leads)
    expect(clock.monotonic() - back).toBeLessThanOrEqual(10_000)
  })

  test('a hanging request times out early enough to retry before the deadline', async () => {
    const { clock, candidate } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    let hung = 0
    a.process.fault = () => (++hung === 1 ? { answerLost: true } : {})
    await clock.advance(60_000)
    expect(a.leads).toBe(true)
    expect(a.events).toEqual(['leader a', 'started'])
  })

  test('isLeader is false right after a suspension past the deadline', async () => {
    for (const answersFirst of [false, true]) {
      const { clock, candidate } = setup()
      const a = candidate('a').start()
      await clock.advanceUntil(() => a.leads)
      const b = candidate('b').start()
      await clock.advance(5_000)
      a.process.pause()
      await clock.advanceUntil(() => b.leads)
      // The first code to run after SIGCONT, before any timer or response:
      expect(a.elector.isLeader()).toBe(false)
      expect(a.term?.aborted).toBe(true)
      expect(a.events.at(-1)).toBe('lost')
      a.process.resume(answersFirst)
      await clock.advance(30_000)
      expect([a.outcome, a.leads, b.leads]).toEqual(['lost', false, true])
      b.stop()
    }
  })

  test('a late response to a renewal does not resume a term', async () => {
    const { clock, candidate } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    a.process.fault = () => ({ back: 500 })
    await clock.advance(2_100)
    a.process.pause()
    await clock.advance(11_000)
    a.process.resume(true)
    await settle()
    expect(a.leads).toBe(false)
    expect(a.outcome).toBe('lost')
  })

  test('a term ends at once when another holder is on the lease', async () => {
    const { clock, api, candidate, lease } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    const stolen = { ...lease()?.spec, holderIdentity: 'thief' }
    api.seed(electionLease, { metadata: ref, spec: stolen })
    await clock.advance(2_000)
    expect([a.leads, a.outcome]).toEqual([false, 'lost'])
    expect(a.term?.reason).toMatchObject({ message: expect.stringContaining('thief holds the Lease now') })
    expect(lease()?.spec?.holderIdentity).toBe('thief')
  })

  test('a leader recreates its deleted lease, and a follower waits until the deleted lease of another expires', async () => {
    const { clock, api, candidate, lease } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    const b = candidate('b').start()
    await clock.advance(3_000)
    api.unseed(electionLease, ref)
    await clock.advance(2_000)
    expect([a.leads, b.leads, lease()?.spec?.holderIdentity]).toEqual([true, false, 'a'])
    a.process.kill()
    api.unseed(electionLease, ref)
    await clock.advance(10_000)
    expect(b.leads).toBe(false)
    await clock.advanceUntil(() => b.leads)
  })

  test('a stopped or jumping wall clock does not matter', async () => {
    const { clock, candidate } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    const b = candidate('b').start()
    // The wall clock of a stands still: each renewal would write the same time.
    for (let i = 0; i < 60; i++) {
      await clock.advance(1_000)
      a.process.wallOffset -= 1_000
      b.process.wallOffset += i % 2 ? 3_600_000 : -3_600_000
    }
    expect([a.leads, b.leads]).toEqual([true, false])
    expect(b.events).toEqual(['leader a'])
  })

  test('run rejects with the error of the work and hands over', async () => {
    const { clock, api, candidate, lease } = setup()
    const { elector } = candidate('a')
    let term: AbortSignal | undefined
    const ended = elector.run(new AbortController().signal, {
      onStarted: (signal) => {
        term = signal
        throw new Error('cannot work')
      },
    })
    await expect(ended).rejects.toThrow('cannot work')
    expect(term?.aborted).toBe(true)
    expect(lease()?.spec?.holderIdentity).toBe('')
    expect(clock.pending).toBe(0)
    expect(api.openWatches).toBe(0)
  })

  test('callbacks may throw, and run rejects while it is running', async () => {
    const { clock, candidate } = setup()
    const { elector } = candidate('a')
    const stop = new AbortController()
    const callbacks = {
      onStarted: () => undefined,
      onNewLeader: () => {
        throw new Error('told')
      },
      onStopped: () => {
        throw new Error('told')
      },
    }
    const ended = elector.run(stop.signal, callbacks)
    await clock.advanceUntil(() => elector.isLeader())
    await expect(elector.run(stop.signal, callbacks)).rejects.toThrow('already running')
    stop.abort()
    await expect(ended).resolves.toBe('stopped')
  })

  test('errors (409, 429, 500) of a renewal do not end the term', async () => {
    const { clock, api, candidate } = setup()
    const a = candidate('a').start()
    await clock.advanceUntil(() => a.leads)
    let n = 0
    api.intercept((request) => {
      if (request.verb !== 'update') return undefined
      n++
      return [
        refuse(409, 'Conflict'),
        refuse(429, 'TooManyRequests', 'slow', 1),
        refuse(500, 'InternalError'),
        undefined,
      ][n % 4]
    })
    await clock.advance(120_000)
    expect(a.events).toEqual(['leader a', 'started'])
    expect(a.leads).toBe(true)
  })

  test.each([
    [{ leaseDuration: 10_000 }, 'longer than the renew deadline'],
    [{ leaseDuration: 15_500 }, 'whole number of seconds'],
    [{ retryPeriod: 9_000 }, '1.2 times the retry period'],
    [{ retryPeriod: 0 }, 'must be positive'],
    [{ requestTimeout: 10_000 }, 'shorter than the renew deadline'],
    [{ leaseDuration: Number.NaN }, 'whole number of seconds'],
    [{ name: '' }, 'needs a name'],
    [{ identity: '' }, 'must not be empty'],
  ])('%j is rejected', (options, message) => {
    const { candidate } = setup()
    expect(() => candidate('a', options)).toThrow(message)
  })

  test('the default identity contains the host name and is unique', () => {
    const { clock, api } = setup()
    const make = (seed: number) =>
      new LeaderElector({
        api: {} as never,
        clock,
        random: { fraction: () => 0, bytes: (length) => new Uint8Array(length).fill(seed) },
        ...ref,
      }).identity
    expect(make(1)).toMatch(/_0101010101010101$/)
    expect(make(1)).not.toBe(make(2))
    expect(api.requests).toEqual([])
  })
})

describe('fenced', () => {
  test('reads pass, and writes pass only while leading', async () => {
    const { api } = setup()
    let leads = false
    const transport: Transport = fenced(api, { isLeader: () => leads })
    const write = {
      method: 'POST',
      path: '/api/v1/namespaces/x/configmaps',
      body: '{"metadata":{"name":"a"}}',
    } as const
    await expect(transport.request(write)).rejects.toMatchObject({ code: 'TENURE_ELECTION_NOT_LEADER' })
    expect((await transport.request({ method: 'GET', path: '/api/v1/configmaps' })).status).toBe(200)
    leads = true
    expect((await transport.request(write)).status).toBe(201)
    await transport.close()
  })
})
