import { defineKind, type KubeObject, TenureError } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apply, call, requeueAfter, requeueAt, status } from '../actions/index.ts'
import { errorResponse, RequestError } from '../testing/responses.ts'
import { refuse } from '../testing/responses.ts'
import { controller } from './index.ts'
import { World } from './fixture.testing.ts'

interface Job extends KubeObject {
  readonly spec: { readonly round: number }
  readonly status?: { readonly round: number }
}
const Job = defineKind<Job>({ apiVersion: 'example.dev/v1', kind: 'Job' })
const ref = { name: 'job', namespace: 'default' }
const job: Job = { metadata: ref, spec: { round: 1 } }

let world: World
/** When each attempt began, on the virtual clock. */
let attempts: number[]
beforeEach(() => {
  world = new World()
  attempts = []
  world.server.seed(Job, job)
})
afterEach(async () => await world.end())

/** A controller whose one step does what `step` does. */
function calling(step: (attempt: number, signal: AbortSignal) => void | Promise<void>, options = {}) {
  return controller(Job, {
    backoff: { base: 100, max: 1000 },
    plan: () => [
      call('step', async ({ signal }) => {
        attempts.push(world.clock.monotonic())
        await step(attempts.length, signal)
      }),
    ],
    ...options,
  })
}

const waits = () => attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0))
const finalizers = () => world.server.peek(Job, ref)?.metadata.finalizers
const apiError = (status: number, reason: string, retryAfter?: number) => refuse(status, reason, 'no', retryAfter)

describe('the fate of an error', () => {
  test('retry: again, after longer and longer, with a warning each', async () => {
    await world.start(
      calling((attempt) => {
        if (attempt < 5) throw new TenureError('TENURE_TEST_BUSY', 'Busy.', { fate: 'retry' })
      }),
    )
    await world.until(() => attempts.length === 5)
    expect(waits()).toEqual([100, 200, 400, 800])
    expect(world.linesAt('warn').map(({ message, during, failures }) => ({ message, during, failures }))).toEqual(
      [1, 2, 3, 4].map((failures) => ({ message: 'reconcile failed, retrying', during: 'call step', failures })),
    )
    expect(new Set(world.linesAt('warn').map((line) => line['reconcileId'])).size).toBe(4)
  })

  test('terminal: not again until the object changes', async () => {
    await world.start(
      calling(() => {
        throw new TenureError('TENURE_TEST_WRONG', 'Wrong.')
      }),
    )
    await world.until(() => attempts.length === 1)
    await world.clock.advance(60_000)
    expect(attempts).toHaveLength(1)
    expect(world.linesAt('error')).toHaveLength(1)
    world.server.seed(Job, { ...job, spec: { round: 2 } })
    await world.until(() => attempts.length === 2)
  })

  test('bug: logged with its stack and tried again; the controller lives on', async () => {
    let isBroken = true
    await world.start(
      controller(Job, {
        backoff: { base: 100 },
        plan: ({ object }) => {
          attempts.push(world.clock.monotonic())
          if (isBroken) throw new TypeError('undefined is not a function')
          return [status({ round: object.spec.round })]
        },
      }),
    )
    await world.until(() => attempts.length === 3)
    isBroken = false
    await world.until(() => world.server.peek(Job, ref)?.status?.round === 1)
    const line = world.linesAt('error')[0]
    expect(line).toMatchObject({
      message: 'reconcile failed because of a bug, retrying',
      name: 'job',
      namespace: 'default',
    })
    expect(line?.['error']).toMatchObject({ stack: expect.stringContaining('failures.test.ts') })
  })

  test('conflicts are retried at once and in silence, unless they do not end', async () => {
    const config = controller(Job, {
      owns: [ConfigMap],
      plan: () => [apply(ConfigMap, { metadata: { name: 'job' }, data: { a: '1' } })],
    })
    let conflicts = 0
    world.server.intercept(({ verb }) => (verb === 'apply' && conflicts++ < 3 ? apiError(409, 'Conflict') : undefined))
    await world.start(config)
    await world.until(() => world.server.peek(ConfigMap, ref) !== undefined)
    expect(world.clock.monotonic()).toBeLessThan(100)
    expect([...world.linesAt('warn'), ...world.linesAt('error')]).toEqual([])

    conflicts = -4
    world.server.unseed(ConfigMap, ref)
    await world.until(() => world.server.peek(ConfigMap, ref) !== undefined)
    expect(world.linesAt('warn').length).toBeGreaterThan(0)
  })

  test('what a namespace refuses because it is being deleted is no trouble, and tried again', async () => {
    const causes = [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated' }]
    const ending = new RequestError(403, 'Forbidden', 'it is being terminated', { causes })
    let refusals = 0
    world.server.intercept(({ verb, at }) => {
      if (verb !== 'apply' || ++refusals > 3) return undefined
      attempts.push(at)
      return errorResponse(ending)
    })
    const outcomes: string[] = []
    await world.start(
      controller(Job, {
        owns: [ConfigMap],
        backoff: { base: 100, max: 1000 },
        plan: () => [apply(ConfigMap, { metadata: { name: 'job' }, data: { a: '1' } })],
        onReconciled: ({ result }) => void outcomes.push(result),
      }),
    )
    await world.until(() => world.server.peek(ConfigMap, ref) !== undefined)
    expect(waits()).toEqual([100, 200])
    expect(outcomes.filter((result) => result === 'error')).toEqual([])
    expect([...world.linesAt('warn'), ...world.linesAt('error')]).toEqual([])
    const line = { message: 'namespace is terminating, retrying', during: 'apply ConfigMap job', name: 'job' }
    expect(world.linesAt('debug').filter(({ message }) => message === line.message)).toMatchObject([line, line, line])
  })

  test('what is not there, a namespace or a kind, may come: tried again', async () => {
    let isMissing = true
    world.server.intercept(({ verb }) => (verb === 'apply' && isMissing ? apiError(404, 'NotFound') : undefined))
    await world.start(
      controller(Job, { owns: [ConfigMap], plan: () => [apply(ConfigMap, { metadata: { name: 'made' } })] }),
    )
    await world.until(() => world.linesAt('warn').length > 2)
    isMissing = false
    await world.until(() => world.server.peek(ConfigMap, { name: 'made', namespace: 'default' }) !== undefined)
    expect(world.linesAt('error')).toEqual([])
  })

  test('any other refusal for want of rights is told', async () => {
    let refusals = 0
    world.server.intercept(({ verb }) =>
      verb === 'apply' && ++refusals === 1 ? apiError(403, 'Forbidden') : undefined,
    )
    await world.start(controller(Job, { plan: ({ object }) => [status({ round: object.spec.round })] }))
    await world.until(() => refusals === 2)
    expect(world.linesAt('warn')).toMatchObject([{ message: 'reconcile failed, retrying' }])
  })

  test('a server that says when to come back is not asked before', async () => {
    let isBusy = true
    world.server.intercept(({ verb, at }) => {
      if (verb !== 'apply') return undefined
      attempts.push(at)
      return isBusy ? apiError(429, 'TooManyRequests', 3) : undefined
    })
    await world.start(
      controller(Job, { plan: ({ object }) => [status({ round: object.spec.round })], backoff: { base: 5 } }),
    )
    await world.until(() => attempts.length === 1)
    isBusy = false
    await world.until(() => attempts.length === 2)
    expect(waits()[0]).toBeGreaterThanOrEqual(3000)
    expect(waits()[0]).toBeLessThan(3100)
  })
})

describe('time', () => {
  test('a reconcile that takes too long is aborted and tried again', async () => {
    await world.start(
      calling(
        (attempt, signal) =>
          attempt > 1
            ? undefined
            : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gave up')))),
        { reconcileTimeout: 500 },
      ),
    )
    await world.until(() => attempts.length === 2)
    expect(waits()).toEqual([600])
    expect(world.linesAt('warn')[0]?.['error']).toMatchObject({
      code: 'TENURE_RECONCILE_TIMEOUT',
      message: expect.stringContaining('500 ms during "call step"'),
      cause: expect.objectContaining({ message: 'gave up' }),
    })
  })

  test('a request that gets no answer ends with the time-out', async () => {
    let requests = 0
    world.server.delayAnswers(({ verb }) => (verb === 'apply' && requests++ === 0 ? 1e9 : 0))
    await world.start(
      controller(Job, { plan: ({ object }) => [status({ round: object.spec.round })], reconcileTimeout: 500 }),
    )
    await world.until(() => requests > 0)
    await world.until(() => world.linesAt('warn').length === 1)
    await world.settle()
    expect(world.server.peek(Job, ref)?.status).toEqual({ round: 1 })
    expect(world.linesAt('warn')[0]?.['error']).toMatchObject({ code: 'TENURE_RECONCILE_TIMEOUT' })
  })

  test('no timer is left behind by work that ended in time', async () => {
    const { runner } = await world.start(calling(() => undefined))
    await world.settle()
    const before = world.clock.pending
    for (let time = 0; time < 10; time++) {
      runner.enqueue('default/job')
      await world.settle()
    }
    expect(attempts).toHaveLength(11)
    expect(world.clock.pending).toBe(before)
  })

  test('a requeue comes when it is due, the earliest of several', async () => {
    const due = world.clock.now() + 700
    await world.start(
      controller(Job, {
        plan: ({ now }) => {
          attempts.push(world.clock.monotonic())
          return now < due ? [requeueAfter(5000), requeueAt(due)] : []
        },
      }),
    )
    await world.until(() => attempts.length === 2)
    expect(attempts[1]).toBe(700)
    await world.clock.advance(10_000)
    expect(attempts).toHaveLength(2)
  })

  test('a requeue for a time that has passed backs off instead of running in circles', async () => {
    await world.start(
      controller(Job, {
        backoff: { base: 100, max: 400 },
        plan: () => {
          attempts.push(world.clock.monotonic())
          return [requeueAt(0)]
        },
      }),
    )
    await world.until(() => attempts.length === 5)
    expect(waits()).toEqual([100, 200, 400, 400])
  })
})

describe('cleanup', () => {
  const finalizer = 'example.dev/cleanup'

  test('that fails keeps the finalizer, and is tried until it succeeds', async () => {
    const { client } = await world.start(
      controller(Job, {
        finalizer,
        plan: () => [],
        cleanup: () => [
          call('first', () => undefined),
          call('second', () => {
            attempts.push(world.clock.monotonic())
            if (attempts.length < 4) throw new TenureError('TENURE_TEST_BUSY', 'Busy.', { fate: 'retry' })
          }),
        ],
      }),
    )
    await world.settle()
    expect(finalizers()).toEqual([finalizer])
    await client.delete(Job, ref)
    await world.until(() => attempts.length === 3)
    expect(finalizers()).toEqual([finalizer])
    await world.until(() => world.server.peek(Job, ref) === undefined)
    expect(attempts).toHaveLength(4)
  })

  test('that throws keeps the finalizer', async () => {
    const { client } = await world.start(
      controller(Job, {
        finalizer,
        plan: () => [],
        cleanup: () => {
          attempts.push(0)
          throw new TenureError('TENURE_TEST_WRONG', 'Wrong.')
        },
      }),
    )
    await world.settle()
    await client.delete(Job, ref)
    await world.until(() => attempts.length === 1)
    await world.clock.advance(5000)
    expect(finalizers()).toEqual([finalizer])
  })

  test('that asks to come back keeps the finalizer until it does not', async () => {
    const { client } = await world.start(
      controller(Job, {
        finalizer,
        plan: () => [],
        cleanup: () => (attempts.push(world.clock.monotonic()) < 3 ? [requeueAfter(1000)] : []),
      }),
    )
    await world.settle()
    await client.delete(Job, ref)
    await world.until(() => world.server.peek(Job, ref) === undefined)
    expect(waits()).toEqual([1000, 1000])
  })

  test('meets a finalizer list that somebody else changed: neither change is lost', async () => {
    const { client } = await world.start(controller(Job, { finalizer, plan: () => [], cleanup: () => [] }))
    await world.settle()
    const stop = world.server.intercept(({ verb }) => {
      if (verb !== 'patch') return undefined
      stop()
      world.server.seed(Job, { ...job, metadata: { ...ref, finalizers: [finalizer, 'theirs'] } })
      return undefined
    })
    await client.delete(Job, ref)
    await world.until(() => finalizers()?.join() === 'theirs')
    expect(finalizers()).toEqual(['theirs'])
    expect(world.linesAt('debug').some(({ message }) => message === 'conflict, retrying')).toBe(true)
  })

  test('an object that is going without our finalizer is left alone', async () => {
    world.server.seed(Job, { ...job, metadata: { ...ref, finalizers: ['theirs'] } })
    const { client } = await world.start(
      controller(Job, {
        plan: () => {
          attempts.push(0)
          return []
        },
      }),
    )
    await world.settle()
    await client.delete(Job, ref)
    await world.settle()
    expect(world.server.peek(Job, ref)?.metadata.deletionTimestamp).toBeDefined()
    expect(attempts).toHaveLength(1)
  })
})
