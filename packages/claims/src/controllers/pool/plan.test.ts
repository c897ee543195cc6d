import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Claim } from '../../api/claim.ts'
import { MAX_UNPROVEN, newHistory, planPool, type PoolHistory, type PoolPlan } from './plan.ts'
import { NO_DEMAND } from './size.ts'

const NOW = Date.UTC(2026, 0, 1)
const REVISION = 'r1'

function member(id: string, changes: Partial<Claim> = {}): Claim {
  return {
    id,
    pool: 'default',
    // The plan does not read the object.
    object: {} as Claim['object'],
    createdAt: NOW,
    claimedAt: undefined,
    expiresAt: undefined,
    isPreProvisioned: true,
    isIdle: true,
    isTerminating: false,
    status: 'ready',
    message: '',
    failure: undefined,
    revision: REVISION,
    idempotencyKey: undefined,
    handOut: undefined,
    hasSecrets: false,
    hasSecretReturns: false,
    ...changes,
  }
}

const PROVEN: PoolHistory = { ...newHistory(REVISION), isNew: false, isProven: true }

function plan(
  claims: readonly Claim[],
  { idle = 3, history = PROVEN, now = NOW }: { idle?: number; history?: PoolHistory; now?: number } = {},
): PoolPlan {
  return planPool({ now, revision: REVISION, claims, size: { idle, again: undefined, demand: NO_DEMAND }, history })
}

const removed = ({ remove }: PoolPlan) => remove.map(({ claim, reason }) => `${claim.id} ${reason}`)

describe('planPool', () => {
  test('a pool at its target is left alone', () => {
    expect(plan([member('a'), member('b'), member('c')])).toMatchObject({ create: 0, remove: [] })
  })

  test('missing members are created, and those on their way count', () => {
    expect(plan([member('a'), member('b', { status: 'pending' })]).create).toBe(1)
  })

  test('surplus members are removed, pending ones and the youngest first', () => {
    const claims = [
      member('old', { createdAt: NOW - 2 }),
      member('young', { createdAt: NOW - 1 }),
      member('pending', { status: 'pending', createdAt: NOW - 3 }),
    ]
    expect(removed(plan(claims, { idle: 1 }))).toEqual(['pending surplus', 'young surplus'])
  })

  test('members of an older revision are replaced', () => {
    const result = plan([member('a', { revision: 'r0' }), member('b'), member('c')])
    expect(result.create).toBe(1)
    expect(removed(result)).toEqual(['a outdated'])
  })

  test('a claim that was handed out is never touched', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            isIdle: fc.boolean(),
            status: fc.constantFrom('pending', 'ready', 'failed'),
            revision: fc.constantFrom(REVISION, 'r0'),
            failure: fc.constantFrom(undefined, 'stuck', 'failed', 'disrupted'),
          }),
          { maxLength: 12 },
        ),
        fc.integer({ min: 0, max: 8 }),
        fc.boolean(),
        (states, idle, isProven) => {
          const claims = states.map((state, at) => member(`m${at}`, state as Partial<Claim>))
          const result = plan(claims, { idle, history: { ...newHistory(REVISION), isProven } })
          expect(result.remove.every(({ claim }) => claim.isIdle)).toBe(true)
          const healthy = claims.filter(
            (claim) =>
              claim.isIdle && claim.revision === REVISION && claim.status !== 'failed' && claim.failure === undefined,
          )
          const surplus = result.remove.filter(({ reason }) => reason === 'surplus').length
          expect(healthy.length - surplus + result.create).toBeLessThanOrEqual(Math.max(idle, 0))
        },
      ),
    )
  })

  test('a revision of which no member was ready gets few members', () => {
    expect(plan([], { idle: 50, history: newHistory(REVISION) }).create).toBe(MAX_UNPROVEN)
    expect(plan([], { idle: 50 }).create).toBe(50)
  })

  test('a disrupted member is replaced at once', () => {
    const result = plan([member('a', { status: 'failed', failure: 'disrupted' }), member('b'), member('c')])
    expect(result.create).toBe(1)
    expect(removed(result)).toEqual(['a failed'])
  })

  test('evictions of ready members are never held back, and those of members that were never ready are', () => {
    let history = plan([member('a'), member('b'), member('c')]).history
    for (let number = 0; number < 5; number++) {
      const evicted = member('a', { status: 'failed', failure: 'disrupted' })
      expect(plan([evicted, member('b'), member('c')], { history, now: NOW + number * 1_000 }).create).toBe(1)
    }
    for (let number = 0; number < 5; number++) {
      const rejected = member(`n${number}`, { status: 'failed', failure: 'disrupted', createdAt: NOW + number * 1_000 })
      const result = plan([rejected, member('b'), member('c')], { history, now: NOW + number * 1_000 })
      history = result.history
      expect(result.create).toBe(number === 0 ? 1 : 0)
    }
    expect(history.failures).toBe(5)
  })

  test('a claim that was ready when it was handed out does not count as a failure of its pool', () => {
    const { history } = plan([member('a'), member('b'), member('c')])
    const broken = { status: 'failed', failure: 'failed', isIdle: false } as const
    expect(plan([member('a', broken), member('b'), member('c')], { history }).history.failures).toBe(0)
    const never = plan([member('x', { ...broken, message: 'hunter2' }), member('b'), member('c')], { history })
    expect(never.history).toMatchObject({ failures: 1, lastFailure: expect.not.stringContaining('hunter2') })
  })

  test('a new leader does not count claimed members that failed before its time', () => {
    const broken = member('broken', { isIdle: false, claimedAt: NOW, status: 'failed' })
    const first = plan([broken], { history: newHistory(REVISION) })
    expect(first.history.failures).toBe(0)
    expect(plan([broken], { history: first.history }).history.failures).toBe(0)
    const stuck = member('stuck', { failure: 'stuck', status: 'pending' })
    expect(plan([stuck], { history: newHistory(REVISION) }).history.failures).toBe(1)
  })

  test('a series of failures ends when a younger member stays ready or is of use, not when it becomes ready', () => {
    const failing: PoolHistory = { ...PROVEN, failures: 3, failedAt: NOW }
    const young = member('y', { createdAt: NOW + 1_000 })
    const noted = plan([young], { history: failing, now: NOW + 2_000 })
    expect(noted.history.failures).toBe(3)
    expect(noted.again).toBe(NOW + 12_000)
    expect(plan([young], { history: noted.history, now: NOW + 12_000 }).history.failures).toBe(0)
    const claimed = { ...young, isIdle: false }
    expect(plan([claimed], { history: noted.history, now: NOW + 3_000 }).history.failures).toBe(0)
    expect(
      plan([member('old', { createdAt: NOW - 5_000 })], { history: failing, now: NOW + 60_000 }).history.failures,
    ).toBe(3)
  })

  test('members whose creation is under way count', () => {
    const state = {
      now: NOW,
      revision: REVISION,
      claims: [member('a')],
      size: { idle: 3, again: undefined, demand: NO_DEMAND },
    }
    expect(planPool({ ...state, history: PROVEN, creating: 1 }).create).toBe(1)
    expect(planPool({ ...state, history: PROVEN, creating: 2 }).create).toBe(0)
  })

  test('a broken revision makes at most 12 members in ten minutes, and a new revision starts at once', () => {
    let history = newHistory(REVISION)
    let claims: Claim[] = []
    let created = 0
    for (let now = NOW; now < NOW + 600_000; now += 1_000) {
      const result = plan(claims, { idle: 20, history, now })
      history = result.history
      const gone = new Set(result.remove.map(({ claim }) => claim))
      claims = claims.filter((claim) => !gone.has(claim))
      // Every member is stuck two seconds after its creation.
      claims = claims.map((claim) =>
        now - claim.createdAt >= 2_000 ? { ...claim, failure: 'stuck' as const, message: 'no such image' } : claim,
      )
      for (let number = 0; number < result.create; number++)
        claims.push(member(`m${created++}`, { status: 'pending', createdAt: now }))
    }
    expect(created).toBeGreaterThan(MAX_UNPROVEN)
    expect(created).toBeLessThanOrEqual(12)
    expect(history.lastFailure).toBe('no such image')
    const fixed = planPool({
      now: NOW + 600_000,
      revision: 'r2',
      claims,
      size: { idle: 3, again: undefined, demand: NO_DEMAND },
      history,
    })
    expect(fixed.create).toBe(3)
    expect(fixed.remove).toHaveLength(claims.length)
  })
})
