import { defineKind, type KubeObject, TenureError } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { refuse } from '../testing/responses.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { apply, event, requeueAfter, status } from '../actions/index.ts'
import { ControllerFixture } from './fixture.testing.ts'
import { controller, type ControllerOptions } from './index.ts'

interface Team extends KubeObject {
  readonly spec: { readonly size: number }
  readonly status?: { readonly size: number; readonly message?: string; readonly failures?: number }
}
const Team = defineKind<Team>({ apiVersion: 'example.dev/v1', kind: 'Team' })
const ref = { name: 'red', namespace: 'default' }

let fixture: ControllerFixture
beforeEach(() => {
  fixture = new ControllerFixture()
  fixture.server.seed(Team, { metadata: ref, spec: { size: 1 } })
})
afterEach(async () => await fixture.end())

const roster = apply(ConfigMap, { metadata: { name: 'roster' }, data: { a: '1' } })
const start = (options: Partial<ControllerOptions<Team>>) =>
  fixture.start(controller(Team, { owns: [ConfigMap], plan: () => [roster], ...options }))
const stored = () => fixture.server.peek(Team, ref)?.status

test('status sees what the plan wrote, and a status that does not differ is not written again', async () => {
  await start({ status: ({ owned }) => ({ size: owned(ConfigMap).length }) })
  await fixture.settle()
  expect(stored()).toEqual({ size: 1 })
  expect(fixture.writes).toEqual(['apply configmaps/roster', 'apply teams/red/status'])
})

test('the own write of the status does not cause another reconcile', async () => {
  let reconciles = 0
  await start({ plan: () => [], status: () => ({ size: ++reconciles }) })
  await fixture.settle()
  expect(reconciles).toBe(1)
})

test('a status that another writer changed is restored', async () => {
  await start({ status: ({ object }) => ({ size: object.spec.size }) })
  await fixture.settle()
  fixture.server.seed(Team, { metadata: ref, spec: { size: 1 }, status: { size: 9 } })
  await fixture.settle()
  expect(stored()).toEqual({ size: 1 })
})

test('status may return actions, for Events and delays', async () => {
  await start({
    status: ({ object, now }) =>
      now < Date.parse(object.metadata.creationTimestamp) + 1_000
        ? [requeueAfter(1_000)]
        : [status({ size: 5 }), event({ type: 'Normal', reason: 'Counted', message: 'Counted the team.' })],
  })
  await fixture.settle()
  expect(stored()).toBeUndefined()
  await fixture.clock.advance(2_000)
  await fixture.settle()
  expect(stored()).toEqual({ size: 5 })
  expect(fixture.events.map(({ reason }) => reason)).toEqual(['Counted'])
})

test('a failed action is reported in the status, with the number of failures in a row, and retried', async () => {
  let isForbidden = true
  fixture.server.intercept(({ verb, plural }) =>
    isForbidden && verb === 'apply' && plural === 'configmaps' ? refuse(500, 'InternalError') : undefined,
  )
  await start({
    backoff: { base: 1_000, max: 1_000 },
    status: ({ failure, failures }) => ({ size: 0, ...(failure && { message: 'failed', failures }) }),
  })
  await fixture.until(() => stored()?.failures === 1)
  await fixture.clock.advance(500)
  // The status that was just written must not cut the backoff short.
  expect(stored()).toMatchObject({ failures: 1 })
  await fixture.until(() => stored()?.failures === 2)
  isForbidden = false
  await fixture.until(() => stored()?.message === undefined)
  expect(fixture.linesAt('warn').map(({ message }) => message)).toContain('reconcile failed, retrying')
})

test('a conflict is not reported', async () => {
  let conflicts = 2
  fixture.server.intercept(({ verb, plural }) =>
    verb === 'apply' && plural === 'configmaps' && conflicts-- > 0 ? refuse(409, 'Conflict') : undefined,
  )
  const reported: unknown[] = []
  await start({
    status: ({ failure }) => {
      reported.push(failure)
      return { size: 1 }
    },
  })
  await fixture.settle()
  expect(reported.length).toBeGreaterThan(0)
  expect(reported.filter((failure) => failure !== undefined)).toEqual([])
})

test('a failed cleanup is reported in the status, and keeps the finalizer', async () => {
  fixture.server.seed(Team, { metadata: { ...ref, finalizers: ['a/b'] }, spec: { size: 1 } })
  await start({
    finalizer: 'a/b',
    retryTerminal: true,
    backoff: { base: 1_000, max: 1_000 },
    cleanup: () => {
      throw new TenureError('TENURE_TEST', 'No way.')
    },
    status: ({ failure }) => ({ size: 0, message: failure?.message ?? 'fine' }),
  })
  await fixture.until(() => stored()?.message === 'fine')
  await fixture.start(controller(ConfigMap, { plan: () => [] })).then(({ client }) => client.delete(Team, ref))
  await fixture.until(() => stored()?.message === 'No way.')
  expect(fixture.server.peek(Team, ref)?.metadata.finalizers).toEqual(['a/b'])
})

test('an error whose fate is terminal is retried if the controller asks for it', async () => {
  let tries = 0
  await start({
    retryTerminal: true,
    backoff: { base: 10, max: 10 },
    plan: () => {
      if (++tries < 3) throw new TenureError('TENURE_TEST', 'Not yet.')
      return []
    },
  })
  await fixture.until(() => tries === 3)
  expect(fixture.linesAt('error')).toEqual([])
})
