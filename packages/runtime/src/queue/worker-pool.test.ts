import { settle, VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { WorkQueue } from './index.ts'
import { WorkerPool } from './worker-pool.ts'

test('a long run of work that never waits lets the rest of the process have its turn', async () => {
  // A clock on which every piece of work takes a millisecond.
  let spent = 0
  const done: string[] = []
  const pauses: number[] = []
  const clock = new VirtualClock()
  const working = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + spent,
    setTimer: (delay: number, callback: () => void) => {
      pauses.push(done.length)
      return clock.setTimer(delay, callback)
    },
  }
  const queue = new WorkQueue({ clock: working, name: 'test', onReady: () => pool.notify() })
  const pool = new WorkerPool({
    queue,
    clock: working,
    concurrency: 1,
    work: (key) => {
      done.push(key)
      spent++
      return undefined
    },
  })
  for (let index = 0; index < 35; index++) queue.add(`a/${index}`)
  pool.start()
  await settle()
  expect(done).toHaveLength(10)
  await clock.advance(0)
  expect(done).toHaveLength(35)
  expect(pauses).toEqual([10, 20, 30])
  expect(queue.running).toBe(0)
  expect(clock.pending).toBe(0)
})

test('what is added in one go is taken by priority, although a worker is free', async () => {
  const clock = new VirtualClock()
  const done: string[] = []
  const queue = new WorkQueue({ clock, name: 'test', onReady: () => pool.notify() })
  const pool = new WorkerPool({
    queue,
    clock,
    concurrency: 4,
    work: (key) => {
      done.push(key)
      return undefined
    },
  })
  pool.start()
  await settle()
  queue.add('a/listed', -100)
  queue.add('a/changed')
  await settle()
  expect(done).toEqual(['a/changed', 'a/listed'])
})

test('starts nothing after it was stopped', async () => {
  const clock = new VirtualClock()
  const done: string[] = []
  const queue = new WorkQueue({ clock, name: 'test', onReady: () => pool.notify() })
  const running = Promise.withResolvers<void>()
  const pool = new WorkerPool({
    queue,
    clock,
    concurrency: 1,
    work: (key) => {
      done.push(key)
      return running.promise
    },
  })
  pool.start()
  queue.add('a/1')
  queue.add('a/2')
  await settle()
  expect(pool.active).toBe(1)
  pool.stop()
  running.resolve()
  await settle()
  expect({ done, active: pool.active, running: queue.running }).toEqual({ done: ['a/1'], active: 0, running: 0 })
})
