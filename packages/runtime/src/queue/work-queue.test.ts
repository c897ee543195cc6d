import { settle, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import type { MetricLabels, Metrics } from '../metrics/metrics.ts'
import { PRIORITY, WorkQueue, type WorkQueueOptions } from './index.ts'

function setUp(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock()
  const queue = new WorkQueue({ clock, name: 'test', ...options })
  const takeAll = (): string[] => {
    const keys: string[] = []
    for (let key = queue.tryGet(); key !== undefined; key = queue.tryGet()) keys.push(key)
    return keys
  }
  return { clock, queue, takeAll }
}

describe('order', () => {
  test('a namespace with ten thousand keys does not delay another', () => {
    const { queue } = setUp()
    for (let index = 0; index < 10_000; index++) queue.add(`big/${index}`)
    queue.add('small/1')
    expect([queue.tryGet(), queue.tryGet()]).toContain('small/1')
  })

  test('keys of the initial list wait while changed keys are ready', () => {
    const { queue, takeAll } = setUp()
    queue.add('a/listed', PRIORITY.low)
    queue.add('a/both', PRIORITY.low)
    queue.add('a/changed')
    queue.add('a/both')
    expect(takeAll()).toEqual(['a/changed', 'a/both', 'a/listed'])
  })

  test('a key that is added right after done queues behind the others', () => {
    const { queue } = setUp()
    queue.add('a/hot')
    queue.add('a/1')
    queue.add('a/2')
    const order: (string | undefined)[] = []
    for (let turn = 0; turn < 6; turn++) {
      const key = queue.tryGet()
      order.push(key)
      if (key === undefined) break
      queue.done(key)
      if (key === 'a/hot') queue.add(key)
    }
    expect(order.slice(0, 4)).toEqual(['a/hot', 'a/1', 'a/2', 'a/hot'])
  })
})

describe('concurrency', () => {
  test('a key that is added ten times while it runs is run once more after done', () => {
    const { queue } = setUp()
    queue.add('a/1')
    expect(queue.tryGet()).toBe('a/1')
    for (let time = 0; time < 10; time++) queue.add('a/1')
    expect(queue.tryGet()).toBeUndefined()
    queue.done('a/1')
    expect(queue.tryGet()).toBe('a/1')
    queue.done('a/1')
    expect(queue.tryGet()).toBeUndefined()
  })

  test('the highest priority wins when a running key is added again', () => {
    const { queue, takeAll } = setUp()
    queue.add('a/1')
    queue.tryGet()
    queue.add('a/1', PRIORITY.low)
    queue.add('a/1', 10)
    queue.add('a/2')
    queue.done('a/1')
    expect(takeAll()).toEqual(['a/1', 'a/2'])
  })

  test('done without get throws a bug error', () => {
    const { queue } = setUp()
    expect(() => queue.done('a/1')).toThrow(expect.objectContaining({ code: 'TENURE_QUEUE_NOT_RUNNING', fate: 'bug' }))
  })
})

describe('backoff', () => {
  test('the delay doubles from the base to the limit and is reset by forget', async () => {
    const { clock, queue } = setUp({ backoff: { base: 10, max: 60 } })
    const waits: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      if (attempt === 4) queue.forget('a/1')
      const start = clock.monotonic()
      queue.retry('a/1')
      await clock.advanceUntil(() => queue.depth === 1)
      waits.push(clock.monotonic() - start)
      queue.done(queue.tryGet() ?? '')
    }
    expect(waits).toEqual([10, 20, 40, 60, 10])
  })

  test('a change bypasses the backoff', () => {
    const { queue } = setUp()
    queue.retry('a/1')
    expect(queue.depth).toBe(0)
    queue.add('a/1')
    expect(queue.tryGet()).toBe('a/1')
    expect(queue.failures('a/1')).toBe(1)
  })
})

describe('get', () => {
  test('each waiter gets its own key, and an aborted waiter loses none', async () => {
    const { clock, queue } = setUp()
    const abort = new AbortController()
    const first = queue.get(abort.signal)
    const second = queue.get()
    queue.add('a/1')
    // The first waiter was woken for a/1 and is aborted before it takes it.
    abort.abort(new Error('called off'))
    await expect(first).rejects.toThrow('called off')
    expect(await second).toBe('a/1')
    const third = queue.get()
    queue.add('a/2', 0, 50)
    await clock.advance(49)
    expect(queue.running).toBe(1)
    await clock.advance(1)
    expect(await third).toBe('a/2')
  })

  test('shutdown wakes waiters, drops queued keys and drains running ones', async () => {
    const { clock, queue } = setUp()
    queue.add('a/1')
    queue.tryGet()
    queue.add('a/1')
    queue.add('a/2', 0, 1000)
    const waiter = queue.get()
    let drained = false
    void queue.drained().then(() => (drained = true))
    queue.shutDown()
    expect(await waiter).toBeUndefined()
    await settle()
    expect(drained).toBe(false)
    queue.done('a/1')
    await settle()
    expect(drained).toBe(true)
    queue.add('a/3')
    expect(queue.tryGet()).toBeUndefined()
    expect(clock.pending).toBe(0)
    await queue.drained()
  })
})

test('metrics have the names of controller-runtime', async () => {
  const values = new Map<string, number>()
  const collectors = new Set<() => void>()
  const series = (name: string, labels: MetricLabels) => {
    expect(labels).toEqual({ name: 'test', controller: 'test' })
    return {
      inc: (by = 1) => void values.set(name, (values.get(name) ?? 0) + by),
      dec: () => undefined,
      set: (value: number) => void values.set(name, value),
      observe: (value: number) => void values.set(name, value),
      snapshot: () => ({ le: [], counts: [], sum: 0, count: 0 }),
    }
  }
  const family = ({ name }: { name: string }) => ({
    with: (labels: MetricLabels) => series(name, labels),
    remove: () => undefined,
  })
  const metrics: Metrics = {
    counter: family,
    gauge: family,
    histogram: family,
    onCollect: (collect) => {
      collectors.add(collect)
      return () => collectors.delete(collect)
    },
    expose: () => Promise.resolve({ contentType: '', text: '' }),
  }
  const { clock, queue } = setUp({ metrics })
  queue.add('a/1')
  queue.add('a/2')
  queue.add('a/3')
  await clock.advance(2000)
  queue.tryGet()
  await clock.advance(1000)
  queue.tryGet()
  await clock.advance(3000)
  queue.done('a/1')
  queue.retry('a/1')
  for (const collect of collectors) collect()
  expect(Object.fromEntries(values)).toEqual({
    workqueue_depth: 1,
    workqueue_adds_total: 4,
    workqueue_retries_total: 1,
    workqueue_queue_duration_seconds: 3,
    workqueue_work_duration_seconds: 4,
    workqueue_unfinished_work_seconds: 3,
    workqueue_longest_running_processor_seconds: 3,
  })
  queue.shutDown()
  expect(collectors.size).toBe(0)
})
