import { expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { type ActionAccess, AccessDecisions, neededAccess } from './access.ts'
import type { ApiRequestOptions } from './api.ts'

const check = (verb: string): ActionAccess => ({
  group: 'claim-controller.io',
  resource: 'claims',
  verb,
  namespace: 'default',
})

function decisions(allowed: (verb: string) => boolean) {
  const clock = new FakeClock()
  const batches: (readonly ActionAccess[])[] = []
  const json = async (_path: string, { body }: ApiRequestOptions = {}): Promise<unknown> => {
    const { checks } = body as { readonly checks: readonly ActionAccess[] }
    batches.push(checks)
    return { user: 'ada', allowed: checks.map(({ verb }) => allowed(verb)) }
  }
  const access = new AccessDecisions({ json: json as <T>(path: string) => Promise<T> }, clock)
  return { access, batches, clock }
}

test('the checks of a view are asked in one request and remembered', async () => {
  const { access, batches, clock } = decisions((verb) => verb === 'create')
  expect(['create', 'update', 'create'].map((verb) => access.decide(check(verb)))).toEqual([
    'unknown',
    'unknown',
    'unknown',
  ])
  await clock.advance(0)
  expect(['create', 'update'].map((verb) => access.decide(check(verb)))).toEqual(['allowed', 'denied'])
  await clock.advance(1_000)
  expect(batches.map((batch) => batch.map(({ verb }) => verb))).toEqual([['create', 'update']])
  expect(access.user).toBe('ada')
})

test('more than a hundred checks are asked in several requests', async () => {
  const { access, batches, clock } = decisions(() => true)
  for (let index = 0; index < 130; index++) access.decide(check(`verb${index}`))
  await clock.advance(100)
  expect(batches.map((batch) => batch.length)).toEqual([100, 30])
})

test('another user is asked for again', async () => {
  const { access, clock } = decisions(() => true)
  access.decide(check('create'))
  await clock.advance(0)
  access.clear()
  expect(access.decide(check('create'))).toBe('unknown')
})

test('a server without authentication allows everything without a request', async () => {
  const { access, batches, clock } = decisions(() => false)
  access.isOpen = true
  expect(access.decide(check('delete'))).toBe('allowed')
  await clock.advance(1_000)
  expect(batches).toEqual([])
})

test('a missing right is named with its verb, resource and namespace', () => {
  expect(neededAccess(check('update'))).toBe('needs: update claims.claim-controller.io in default')
  expect(neededAccess({ group: '', resource: 'pods', verb: 'patch' })).toBe('needs: patch pods')
})
