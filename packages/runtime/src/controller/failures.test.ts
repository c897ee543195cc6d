import { defineKind, type KubeObject, TenureError } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apply, call, requeueAfter, requeueAt, status } from '../actions/index.ts'
import { errorResponse, RequestError } from '../testing/responses.ts'
import { refuse } from '../testing/responses.ts'
import { controller } from './index.ts'
import { ControllerFixture } from './fixture.testing.ts'

interface Job extends KubeObject {
  readonly spec: { readonly round: number }
  readonly status?: { readonly round: number }
}
const Job = defineKind<Job>({ apiVersion: 'example.dev/v1', kind: 'Job' })
const ref = { name: 'job', namespace: 'default' }
const job: Job = { metadata: ref, spec: { round: 1 } }

let fixture: ControllerFixture
/** Virtual time at which each attempt started. */
let attempts: number[]
beforeEach(() => {
  fixture = new ControllerFixture()
  attempts = []
  fixture.server.seed(Job, job)
})
afterEach(async () => await fixture.end())

/** A controller whose single action runs `step`. */
function calling(step: (attempt: number, signal: AbortSignal) => void | Promise<void>, options = {}) {
  return controller(Job, {
    backoff: { base: 100, max: 1000 },
    plan: () => [
      call('step', async ({ signal }) => {
        attempts.push(fixture.clock.monotonic())
        await step(attempts.length, signal)
      }),
    ],
    ...options,
  })
}

const waits = () => attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0))
const finalizers = () => fixture.server.peek(Job, ref)?.metadata.finalizers
const apiError = (status: number, reason: string, retryAfter?: number) => refuse(status, reason, 'no', retryAfter)

describe('the fate of an error', () => {
  test('an error with fate retry is retried with growing delays and a warning each', async () => {
    await fixture.start(
      calling((attempt) => {
        if (attempt < 5) throw new TenureError('TENURE_TEST_BUSY', 'Busy.', { fate: 'retry' })
      }),
    )
    await fixture.until(() => attempts.length === 5)
    expect(waits()).toEqual([100, 200, 400, 800])
    expect(fixture.linesAt('warn').map(({ message, during, failures }) => ({ message, during, failures }))).toEqual(
      [1, 2, 3, 4].map((failures) => ({ message: 'reconcile failed, retrying', during: 'call step', failures })),
    )
    expect(new Set(fixture.linesAt('warn').map((line) => line['reconcileId'])).size).toBe(4)
  })

  test('a terminal error is not retried until the object changes', async () => {
    await fixture.start(
      calling(() => {
        throw new TenureError('TENURE_TEST_WRONG', 'Wrong.')
      }),
    )
    await fixture.until(() => attempts.length === 1)
    await fixture.clock.advance(60_000)
    expect(attempts).toHaveLength(1)
    expect(fixture.linesAt('error')).toHaveLength(1)
    fixture.server.seed(Job, { ...job, spec: { round: 2 } })
    await fixture.until(() => attempts.length === 2)
  })

  test('a bug is logged with its stack and retried', async () => {
    let isBroken = true
    await fixture.start(
      controller(Job, {
        backoff: { base: 100 },
        plan: ({ object }) => {
          attempts.push(fixture.clock.monotonic())
          if (isBroken) throw new TypeError('undefined is not a function')
          return [status({ round: object.spec.round })]
        },
      }),
    )
    await fixture.until(() => attempts.length === 3)
    isBroken = false
    await fixture.until(() => fixture.server.peek(Job, ref)?.status?.round === 1)
    const line = fixture.linesAt('error')[0]
    expect(line).toMatchObject({
      message: 'reconcile failed because of a bug, retrying',
      name: 'job',
      namespace: 'default',
    })
    expect(line?.['error']).toMatchObject({ stack: expect.stringContaining('failures.test.ts') })
  })

  test('conflicts are retried at once and logged as warnings only if they persist', async () => {
    const config = controller(Job, {
      owns: [ConfigMap],
      plan: () => [apply(ConfigMap, { metadata: { name: 'job' }, data: { a: '1' } })],
    })
    let conflicts = 0
    fixture.server.intercept(({ verb }) =>
      verb === 'apply' && conflicts++ < 3 ? apiError(409, 'Conflict') : undefined,
    )
    await fixture.start(config)
    await fixture.until(() => fixture.server.peek(ConfigMap, ref) !== undefined)
    expect(fixture.clock.monotonic()).toBeLessThan(100)
    expect([...fixture.linesAt('warn'), ...fixture.linesAt('error')]).toEqual([])

    conflicts = -4
    fixture.server.unseed(ConfigMap, ref)
    await fixture.until(() => fixture.server.peek(ConfigMap, ref) !== undefined)
    expect(fixture.linesAt('warn').length).toBeGreaterThan(0)
  })

  test('a create in a terminating namespace is retried without a warning', async () => {
    const causes = [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated' }]
    const ending = new RequestError(403, 'Forbidden', 'it is being terminated', { causes })
    let refusals = 0
    fixture.server.intercept(({ verb, at }) => {
      if (verb !== 'apply' || ++refusals > 3) return undefined
      attempts.push(at)
      return errorResponse(ending)
    })
    const outcomes: string[] = []
    await fixture.start(
      controller(Job, {
        owns: [ConfigMap],
        backoff: { base: 100, max: 1000 },
        plan: () => [apply(ConfigMap, { metadata: { name: 'job' }, data: { a: '1' } })],
        onReconciled: ({ result }) => void outcomes.push(result),
      }),
    )
    await fixture.until(() => fixture.server.peek(ConfigMap, ref) !== undefined)
    expect(waits()).toEqual([100, 200])
    expect(outcomes.filter((result) => result === 'error')).toEqual([])
    expect([...fixture.linesAt('warn'), ...fixture.linesAt('error')]).toEqual([])
    const line = { message: 'namespace is terminating, retrying', during: 'apply ConfigMap job', name: 'job' }
    expect(fixture.linesAt('debug').filter(({ message }) => message === line.message)).toMatchObject([line, line, line])
  })

  test('an object that is deleted during its reconcile causes no warning', async () => {
    const write = { ...ref, fieldManager: 'another' }
    let isGone = false
    await fixture.start(
      controller(Job, {
        // A plan that changes an object which another writer has just deleted.
        reconcile: async ({ api, object }) => {
          if (!isGone) fixture.server.unseed(Job, ref)
          isGone = true
          await api.update(Job, object, write)
        },
      }),
    )
    await fixture.settle()
    expect(fixture.linesAt('debug').filter(({ message }) => message === 'reconcile failed, retrying')).not.toEqual([])
    expect([...fixture.linesAt('warn'), ...fixture.linesAt('error')]).toEqual([])
  })

  test('a missing namespace or kind is retried', async () => {
    let isMissing = true
    fixture.server.intercept(({ verb }) => (verb === 'apply' && isMissing ? apiError(404, 'NotFound') : undefined))
    await fixture.start(
      controller(Job, { owns: [ConfigMap], plan: () => [apply(ConfigMap, { metadata: { name: 'made' } })] }),
    )
    await fixture.until(() => fixture.linesAt('warn').length > 2)
    isMissing = false
    await fixture.until(() => fixture.server.peek(ConfigMap, { name: 'made', namespace: 'default' }) !== undefined)
    expect(fixture.linesAt('error')).toEqual([])
  })

  test('any other 403 is logged as a warning', async () => {
    let refusals = 0
    fixture.server.intercept(({ verb }) =>
      verb === 'apply' && ++refusals === 1 ? apiError(403, 'Forbidden') : undefined,
    )
    await fixture.start(controller(Job, { plan: ({ object }) => [status({ round: object.spec.round })] }))
    await fixture.until(() => refusals === 2)
    expect(fixture.linesAt('warn')).toMatchObject([{ message: 'reconcile failed, retrying' }])
  })

  test('Retry-After delays the retry', async () => {
    let isBusy = true
    fixture.server.intercept(({ verb, at }) => {
      if (verb !== 'apply') return undefined
      attempts.push(at)
      return isBusy ? apiError(429, 'TooManyRequests', 3) : undefined
    })
    await fixture.start(
      controller(Job, { plan: ({ object }) => [status({ round: object.spec.round })], backoff: { base: 5 } }),
    )
    await fixture.until(() => attempts.length === 1)
    isBusy = false
    await fixture.until(() => attempts.length === 2)
    expect(waits()[0]).toBeGreaterThanOrEqual(3000)
    expect(waits()[0]).toBeLessThan(3100)
  })
})

describe('timeouts', () => {
  test('a reconcile that takes too long is aborted and retried', async () => {
    await fixture.start(
      calling(
        (attempt, signal) =>
          attempt > 1
            ? undefined
            : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gave up')))),
        { reconcileTimeout: 500 },
      ),
    )
    await fixture.until(() => attempts.length === 2)
    expect(waits()).toEqual([600])
    expect(fixture.linesAt('warn')[0]?.['error']).toMatchObject({
      code: 'TENURE_RECONCILE_TIMEOUT',
      message: expect.stringContaining('500 ms during "call step"'),
      cause: expect.objectContaining({ message: 'gave up' }),
    })
  })

  test('a request without a response ends with the timeout', async () => {
    let requests = 0
    fixture.server.delayResponses(({ verb }) => (verb === 'apply' && requests++ === 0 ? 1e9 : 0))
    await fixture.start(
      controller(Job, { plan: ({ object }) => [status({ round: object.spec.round })], reconcileTimeout: 500 }),
    )
    await fixture.until(() => requests > 0)
    await fixture.until(() => fixture.linesAt('warn').length === 1)
    await fixture.settle()
    expect(fixture.server.peek(Job, ref)?.status).toEqual({ round: 1 })
    expect(fixture.linesAt('warn')[0]?.['error']).toMatchObject({ code: 'TENURE_RECONCILE_TIMEOUT' })
  })

  test('work that ends in time leaves no timer behind', async () => {
    const { runner } = await fixture.start(calling(() => undefined))
    await fixture.settle()
    const before = fixture.clock.pending
    for (let time = 0; time < 10; time++) {
      runner.enqueue('default/job')
      await fixture.settle()
    }
    expect(attempts).toHaveLength(11)
    expect(fixture.clock.pending).toBe(before)
  })

  test('the earliest of several requeues counts', async () => {
    const due = fixture.clock.now() + 700
    await fixture.start(
      controller(Job, {
        plan: ({ now }) => {
          attempts.push(fixture.clock.monotonic())
          return now < due ? [requeueAfter(5000), requeueAt(due)] : []
        },
      }),
    )
    await fixture.until(() => attempts.length === 2)
    expect(attempts[1]).toBe(700)
    await fixture.clock.advance(10_000)
    expect(attempts).toHaveLength(2)
  })

  test('a requeue for a past time backs off', async () => {
    await fixture.start(
      controller(Job, {
        backoff: { base: 100, max: 400 },
        plan: () => {
          attempts.push(fixture.clock.monotonic())
          return [requeueAt(0)]
        },
      }),
    )
    await fixture.until(() => attempts.length === 5)
    expect(waits()).toEqual([100, 200, 400, 400])
  })
})

describe('cleanup', () => {
  const finalizer = 'example.dev/cleanup'

  test('a failed cleanup keeps the finalizer and is retried until it succeeds', async () => {
    const { client } = await fixture.start(
      controller(Job, {
        finalizer,
        plan: () => [],
        cleanup: () => [
          call('first', () => undefined),
          call('second', () => {
            attempts.push(fixture.clock.monotonic())
            if (attempts.length < 4) throw new TenureError('TENURE_TEST_BUSY', 'Busy.', { fate: 'retry' })
          }),
        ],
      }),
    )
    await fixture.settle()
    expect(finalizers()).toEqual([finalizer])
    await client.delete(Job, ref)
    await fixture.until(() => attempts.length === 3)
    expect(finalizers()).toEqual([finalizer])
    await fixture.until(() => fixture.server.peek(Job, ref) === undefined)
    expect(attempts).toHaveLength(4)
  })

  test('a cleanup that throws keeps the finalizer', async () => {
    const { client } = await fixture.start(
      controller(Job, {
        finalizer,
        plan: () => [],
        cleanup: () => {
          attempts.push(0)
          throw new TenureError('TENURE_TEST_WRONG', 'Wrong.')
        },
      }),
    )
    await fixture.settle()
    await client.delete(Job, ref)
    await fixture.until(() => attempts.length === 1)
    await fixture.clock.advance(5000)
    expect(finalizers()).toEqual([finalizer])
  })

  test('a cleanup that requeues keeps the finalizer', async () => {
    const { client } = await fixture.start(
      controller(Job, {
        finalizer,
        plan: () => [],
        cleanup: () => (attempts.push(fixture.clock.monotonic()) < 3 ? [requeueAfter(1000)] : []),
      }),
    )
    await fixture.settle()
    await client.delete(Job, ref)
    await fixture.until(() => fixture.server.peek(Job, ref) === undefined)
    expect(waits()).toEqual([1000, 1000])
  })

  test('concurrent changes of the finalizer list are not lost', async () => {
    const { client } = await fixture.start(controller(Job, { finalizer, plan: () => [], cleanup: () => [] }))
    await fixture.settle()
    const stop = fixture.server.intercept(({ verb }) => {
      if (verb !== 'patch') return undefined
      stop()
      fixture.server.seed(Job, { ...job, metadata: { ...ref, finalizers: [finalizer, 'theirs'] } })
      return undefined
    })
    await client.delete(Job, ref)
    await fixture.until(() => finalizers()?.join() === 'theirs')
    expect(finalizers()).toEqual(['theirs'])
    expect(fixture.linesAt('debug').some(({ message }) => message === 'conflict, retrying')).toBe(true)
  })

  test('a terminating object without the finalizer is left alone', async () => {
    fixture.server.seed(Job, { ...job, metadata: { ...ref, finalizers: ['theirs'] } })
    const { client } = await fixture.start(
      controller(Job, {
        plan: () => {
          attempts.push(0)
          return []
        },
      }),
    )
    await fixture.settle()
    await client.delete(Job, ref)
    await fixture.settle()
    expect(fixture.server.peek(Job, ref)?.metadata.deletionTimestamp).toBeDefined()
    expect(attempts).toHaveLength(1)
  })
})
