import { describe, expect, test } from 'vitest'
import { CONNECTION_REFUSED, FakeApi, NO_ANSWER } from './fake-api.testing.ts'

const SECOND = 1_000

describe('renewals', () => {
  test('a claim is renewed at half of the time that was granted, for as long as it is held', async () => {
    const api = new FakeApi()
    const { held, lost } = await api.claim()
    await api.clock.advance(100 * SECOND)
    expect(api.times('renew')).toEqual([30, 60, 90].map((seconds) => seconds * SECOND))
    expect(held.expiresAt.getTime()).toBe(Date.UTC(2026, 0, 1) + 150 * SECOND)
    expect(api.requests.at(-1)?.body).toEqual({ ttl: '1m' })
    expect(lost).toEqual([])
  })

  test('the time that was granted counts, not the one that was asked for', async () => {
    const api = new FakeApi()
    api.ttl = 10 * SECOND
    await api.claim({ ttl: '1h' })
    await api.clock.advance(11 * SECOND)
    expect(api.times('renew')).toEqual([5 * SECOND, 10 * SECOND])
  })

  test.each([-3_600, 3_600])('a clock that differs by %i s from the server changes nothing', async (skew) => {
    const api = new FakeApi()
    api.skew = skew * SECOND
    const { lost } = await api.claim()
    await api.clock.advance(70 * SECOND)
    expect(api.times('renew')).toEqual([30 * SECOND, 60 * SECOND])
    expect(lost).toEqual([])
  })

  test('a jump of the wall clock moves no renewal', async () => {
    const api = new FakeApi()
    const { lost } = await api.claim()
    await api.clock.advance(10 * SECOND)
    api.clock.jump(3_600 * SECOND)
    await api.clock.advance(25 * SECOND)
    expect(api.times('renew')).toEqual([30 * SECOND])
    expect(lost).toEqual([])
  })

  test('a failed renewal is retried with backoff, reported, and heals', async () => {
    const api = new FakeApi()
    const { errors, lost } = await api.claim()
    api.next['renew'] = [CONNECTION_REFUSED, { status: 500, body: 'failed to renew claim' }, { status: 503 }]
    await api.clock.advance(40 * SECOND)
    expect(api.times('renew')).toEqual([30_000, 30_250, 30_750, 31_750])
    expect(errors.map(({ message }) => message)).toEqual([
      'Cannot reach http://claims.test/renew/abc: ECONNREFUSED',
      'failed to renew claim',
      'HTTP status 503',
    ])
    expect(lost).toEqual([])
  })

  test('a renewal without an answer is tried again before the claim expires', async () => {
    const api = new FakeApi()
    const { lost } = await api.claim()
    api.next['renew'] = [NO_ANSWER]
    await api.clock.advance(70 * SECOND)
    expect(lost).toEqual([])
    expect(api.times('renew')[1]).toBeLessThan(60 * SECOND)
  })

  test('a renewal that is refused for another reason is repeated until the claim expires', async () => {
    const api = new FakeApi()
    const { held, errors, lost } = await api.claim()
    api.next['renew'] = Array.from({ length: 100 }, () => ({ status: 401, body: 'token has expired' }))
    await api.clock.advance(59 * SECOND)
    expect(held.signal.aborted).toBe(false)
    await api.clock.advance(SECOND)
    expect(errors.length).toBeGreaterThan(3)
    expect(errors.length).toBeLessThan(15)
    expect(lost).toMatchObject([{ code: 'TENURE_CLAIM_LOST', message: expect.stringContaining('expired') }])
    expect(held.signal.aborted).toBe(true)
  })

  test('an unreachable API loses the claim exactly when it expires', async () => {
    const api = new FakeApi()
    const { held, lost } = await api.claim()
    api.next['renew'] = Array.from({ length: 100 }, () => CONNECTION_REFUSED)
    await api.clock.advance(60 * SECOND - 1)
    expect(lost).toEqual([])
    await api.clock.advance(1)
    expect(lost).toHaveLength(1)
    expect(held.signal.reason).toBe(lost[0])
    expect(api.clock.pending).toBe(0)
  })

  test.each([
    [404, 'claim not found', 'TENURE_CLAIM_NOT_FOUND'],
    [409, 'max ttl already reached', 'TENURE_CLAIM_MAX_TTL'],
  ])('a %i ends the renewals and aborts the signal of the claim', async (status, body, code) => {
    const api = new FakeApi()
    const { held, lost, errors } = await api.claim()
    api.next['renew'] = [{ status, body }]
    await api.clock.advance(30 * SECOND)
    expect(lost).toMatchObject([{ name: 'ClaimError', code, message: body }])
    expect(held.signal.reason).toBe(lost[0])
    expect(errors).toEqual([])
    expect(api.clock.pending).toBe(0)
  })

  test('a claim at its maximum is asked for less than 15 more times and is lost at its end', async () => {
    const api = new FakeApi()
    const { lost } = await api.claim()
    const expiresAt = new Date(api.clock.now() + 60 * SECOND).toISOString()
    api.next['renew'] = Array.from({ length: 100 }, () => ({ status: 200, body: { id: 'abc', expiresAt } }))
    await api.clock.advance(59 * SECOND)
    expect(lost).toEqual([])
    await api.clock.advance(3 * SECOND)
    expect(lost).toHaveLength(1)
    expect(api.times('renew').length).toBeLessThan(15)
  })
})

describe('a renewal on request', () => {
  test('it extends the claim at once and moves the next renewal', async () => {
    const api = new FakeApi()
    const { held } = await api.claim()
    await api.clock.advance(20 * SECOND)
    expect(await held.renew('90s')).toEqual(held.expiresAt)
    expect(api.requests.at(-1)?.body).toEqual({ ttl: '90s' })
    await api.clock.advance(35 * SECOND)
    expect(api.times('renew')).toEqual([20 * SECOND, 50 * SECOND])
  })

  test('a claim that is gone is lost, and the call fails', async () => {
    const api = new FakeApi()
    const { held, lost } = await api.claim()
    api.next['renew'] = [{ status: 404, body: 'claim not found' }]
    await expect(held.renew()).rejects.toMatchObject({ code: 'TENURE_CLAIM_NOT_FOUND' })
    expect(lost).toHaveLength(1)
  })
})

describe('the release', () => {
  test('a claim is released at the end of its block, and its renewals end', async () => {
    const api = new FakeApi()
    {
      await using browser = await api.client().claim({ pool: 'chrome', ttl: '1m' })
      expect(browser.data).toEqual({ fqdn: 'web.example' })
    }
    expect(api.requests.map(({ path }) => path)).toEqual(['/claim', '/release/abc'])
    expect(api.clock.pending).toBe(0)
  })

  test('a second release sends nothing, and a claim that is gone counts as released', async () => {
    const api = new FakeApi()
    api.next['release'] = [{ status: 404, body: 'claim not found' }]
    const { held, lost } = await api.claim()
    await Promise.all([held.release(), held.release()])
    await held.release()
    expect(api.times('release')).toHaveLength(1)
    expect(held.signal.aborted).toBe(false)
    expect(lost).toEqual([])
  })

  test('a renewal in flight ends with the release and is not a loss', async () => {
    const api = new FakeApi()
    const { held, lost, errors } = await api.claim()
    api.next['renew'] = [NO_ANSWER]
    await api.clock.advance(31 * SECOND)
    await held.release()
    await api.clock.advance(60 * SECOND)
    expect([lost, errors]).toEqual([[], []])
    expect(api.clock.pending).toBe(0)
  })

  test('a failed release rejects and can be repeated; on dispose it is reported and hides no other error', async () => {
    const api = new FakeApi()
    const { held, errors } = await api.claim()
    const denied = { status: 403, body: 'claim not managed by controller' }
    api.next['release'] = [denied, denied]
    await expect(held.release()).rejects.toMatchObject({ code: 'TENURE_CLAIM_DENIED' })
    await held[Symbol.asyncDispose]()
    expect(errors).toMatchObject([{ code: 'TENURE_CLAIM_DENIED' }])
    await held.release()
    expect(api.times('release')).toHaveLength(3)
  })
})
