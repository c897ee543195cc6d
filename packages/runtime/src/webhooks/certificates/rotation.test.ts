import { X509Certificate } from 'node:crypto'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { type CertificateState, faultOf, firstState, planRotation, rotate, type RotationPolicy } from './rotation.ts'

const DAY = 86_400_000
const policy: RotationPolicy = {
  commonName: 'webhooks',
  dnsNames: ['web.default.svc', '*.web.dev'],
  ipAddresses: ['127.0.0.1', '::1'],
  servingLife: 90 * DAY,
  authorityLife: 900 * DAY,
  propagation: DAY / 24,
}

function setUp() {
  const clock = new VirtualClock()
  const context = { clock, random: seededRandom() }
  const state = firstState(policy, context)
  const plan = (of: CertificateState, more: Partial<Parameters<typeof planRotation>[2]> = {}, other = policy) =>
    planRotation(of, other, { now: clock.now(), trustedSince: 0, ...more })
  const step = (of: CertificateState, more: Partial<Parameters<typeof planRotation>[2]> = {}) =>
    rotate(of, plan(of, more), policy, context)
  return { clock, state, plan, step, start: clock.now() }
}

const isTrusted = ({ serving, trusted }: Pick<CertificateState, 'serving' | 'trusted'>): boolean =>
  trusted.some((authority) => new X509Certificate(serving.certificate).verify(new X509Certificate(authority).publicKey))

describe('rotation', () => {
  test('a serving certificate is not renewed before two thirds of its life', async () => {
    const { clock, state, plan, step, start } = setUp()
    expect(plan(state)).toEqual({ newAuthority: false, newServing: false, drop: [], next: start + 60 * DAY })
    await clock.advance(60 * DAY - 1)
    expect(step(state)).toBe(state)
    await clock.advance(1)
    expect(plan(state)).toMatchObject({ newAuthority: false, newServing: true })
    const renewed = step(state)
    expect(renewed.authority).toEqual(state.authority)
    expect(renewed.trusted).toEqual(state.trusted)
    expect(renewed.serving.key).not.toBe(state.serving.key)
    expect(plan(renewed)).toMatchObject({ newServing: false, next: start + 120 * DAY })
  })

  test('a certificate that lacks a name is replaced once', () => {
    const { state, plan, step } = setUp()
    expect(plan(state, {}, { ...policy, dnsNames: ['else.where.svc'] })).toMatchObject({ newServing: true })
    expect(plan(state, {}, { ...policy, ipAddresses: ['127.0.0.2'] })).toMatchObject({ newServing: true })
    expect(plan(state, {}, { ...policy, dnsNames: ['WEB.default.svc'] })).toMatchObject({ newServing: false })
    expect(step(state)).toBe(state)
  })

  test('callers trust a new authority before it is used', async () => {
    const { clock, state, plan, step, start } = setUp()
    await clock.advance(550 * DAY)
    const fresh = step(state)
    await clock.advance(50 * DAY)
    const both = step(fresh)
    expect(both.trusted).toEqual([both.authority.certificate, state.authority.certificate])
    expect(both.authority.certificate).not.toBe(state.authority.certificate)
    expect(both.serving).toEqual(fresh.serving)

    // The callers do not trust it yet, so it is not used, whatever the time.
    await clock.advance(DAY)
    expect(plan(both, { trustedSince: undefined })).toMatchObject({ newServing: false })
    // The callers trust it since now, so propagation starts.
    const published = clock.now()
    expect(plan(both, { trustedSince: published })).toMatchObject({
      newServing: false,
      next: published + policy.propagation,
    })
    await clock.advance(policy.propagation)
    const switched = step(both, { trustedSince: published })
    expect(switched.serving).not.toEqual(both.serving)
    expect(isTrusted({ serving: switched.serving, trusted: [switched.authority.certificate] })).toBe(true)
    expect(switched.trusted).toHaveLength(2)
    expect(start + 600 * DAY).toBeLessThan(published)
  })

  test('the old authority is trusted until none of its certificates can be in use', async () => {
    const { clock, state, plan, step } = setUp()
    const both = step(state, { force: 'authority' })
    await clock.advance(policy.propagation)
    const switched = step(both)
    await clock.advance(90 * DAY - policy.propagation - 1)
    expect(plan(switched).drop).toEqual([])
    await clock.advance(1)
    expect(plan(switched).drop).toEqual([state.authority.certificate])
    expect(step(switched).trusted).toEqual([both.authority.certificate])
  })

  test('the authority of the serving certificate is never dropped', async () => {
    const { clock, state, plan, step } = setUp()
    const both = step(state, { force: 'authority' })
    await clock.advance(89 * DAY)
    const late = { ...both, serving: step(state, { force: 'serving' }).serving }
    await clock.advance(2 * DAY)
    expect(plan(late, { trustedSince: undefined }).drop).toEqual([])
  })

  test('a new authority serves at once if nothing else is valid', async () => {
    const { clock, state, step } = setUp()
    await clock.advance(90 * DAY)
    const back = step(state, { trustedSince: undefined })
    expect(faultOf(back)).toBeUndefined()
    expect(back.serving).not.toEqual(state.serving)
    await clock.advance(810 * DAY)
    const after = step(state, { trustedSince: undefined })
    expect(after.authority).not.toEqual(state.authority)
    expect(isTrusted({ serving: after.serving, trusted: [after.authority.certificate] })).toBe(true)
  })

  test('the serving certificate is always trusted over ten years with forced rotations', async () => {
    const { clock, start, ...rest } = setUp()
    let { state } = rest
    let published = { bundle: state.trusted, at: clock.now() }
    let authorities = 1
    for (let turn = 0; clock.now() < start + 3650 * DAY && turn < 2000; turn++) {
      const force = turn % 23 === 7 ? 'authority' : undefined
      const now = rest.step(state, { trustedSince: published.at, force })
      // Callers trust what was published before this step.
      expect(isTrusted({ serving: now.serving, trusted: published.bundle })).toBe(true)
      expect(faultOf(now)).toBeUndefined()
      if (now.authority.certificate !== state.authority.certificate) authorities++
      if (now.trusted.join('') !== published.bundle.join('')) published = { bundle: now.trusted, at: clock.now() }
      state = now
      await clock.advance(Math.min(rest.plan(state, { trustedSince: published.at }).next - clock.now(), 30 * DAY))
    }
    expect(clock.now()).toBeGreaterThanOrEqual(start + 3650 * DAY)
    expect(authorities).toBeGreaterThan(5)
    expect(state.trusted.length).toBeLessThan(6)
  })

  test('forced rotations keep the bundle bounded and never drop the authority in use', () => {
    const { state, step } = setUp()
    let now = state
    for (let turn = 0; turn < 30; turn++) now = step(now, { force: 'authority', trustedSince: undefined })
    expect(now.trusted).toHaveLength(9)
    expect(now.serving).toEqual(state.serving)
    expect(faultOf(now)).toBeUndefined()
  })

  test('an unusable state is described', () => {
    const { state } = setUp()
    const other = setUp().state
    expect(faultOf(state)).toBeUndefined()
    expect(faultOf({ ...state, authority: { ...state.authority, key: other.authority.key } })).toContain('private key')
    expect(faultOf({ ...state, serving: { ...state.serving, key: other.serving.key } })).toContain('tls.key')
    expect(faultOf({ ...state, serving: other.serving })).toContain('not issued by an authority')
    expect(faultOf({ ...state, serving: { certificate: 'x', key: 'y' } })).toBeDefined()
  })
})
