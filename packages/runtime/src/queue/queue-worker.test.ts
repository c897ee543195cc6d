import { ApiError, TenureError } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import type { Facts, Logger } from '../log/logger.ts'
import { QueueWorker, type QueueWorkerOptions } from './queue-worker.ts'

function fixture(work: QueueWorkerOptions['work'], options: Partial<QueueWorkerOptions> = {}) {
  const clock = new VirtualClock()
  const lines: string[] = []
  const at = (level: string) => (message: string, _facts?: Facts) => void lines.push(`${level} ${message}`)
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => log }
  const worker = new QueueWorker({ name: 'rows', clock, log, work, ...options })
  return { clock, lines, worker }
}

describe('QueueWorker', () => {
  test('a key that is added several times is processed once', async () => {
    const done: string[] = []
    const { clock, worker } = fixture((key) => {
      done.push(key)
      return Promise.resolve()
    })
    worker.add('a')
    worker.add('a')
    worker.add('b')
    await worker.start()
    await clock.advance(1)
    expect(done).toEqual(['a', 'b'])
    expect(worker.isIdle).toBe(true)
  })

  test('a key never runs twice at once, and runs again if it was added meanwhile', async () => {
    let running = 0
    let most = 0
    let count = 0
    const { clock, worker } = fixture(async () => {
      count++
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => clock.setTimer(10, resolve))
      running--
    })
    await worker.start()
    worker.add('a')
    await clock.advance(5)
    worker.add('a')
    await clock.advance(100)
    expect({ count, most }).toEqual({ count: 2, most: 1 })
  })

  test('a key is repeated after the time that its work asks for', async () => {
    let count = 0
    const { clock, worker } = fixture(() => Promise.resolve(++count < 3 ? { requeueAfter: 1_000 } : undefined))
    await worker.start()
    worker.add('a')
    await clock.advance(999)
    expect(count).toBe(1)
    await clock.advance(5_000)
    expect(count).toBe(3)
  })

  test('failures are retried with backoff, and the work knows how many there were', async () => {
    const failures: number[] = []
    const { clock, lines, worker } = fixture((_key, context) => {
      failures.push(context.failures)
      return failures.length < 4 ? Promise.reject(new Error('no')) : Promise.resolve()
    })
    await worker.start()
    worker.add('a')
    await clock.advance(10_000)
    expect(failures).toEqual([0, 1, 2, 3])
    expect(lines.filter((line) => line.endsWith('work failed, retrying'))).toEqual([
      'error work failed, retrying',
      'debug work failed, retrying',
      'debug work failed, retrying',
    ])
  })

  test('a conflict is logged as a warning only if it persists', async () => {
    const conflict = new ApiError('changed', { status: 409, reason: 'Conflict' })
    const { clock, lines, worker } = fixture(() => Promise.reject(conflict))
    await worker.start()
    worker.add('a')
    await clock.advance(1_000)
    expect(lines.filter((line) => line.startsWith('debug'))).not.toEqual([])
    expect(lines.filter((line) => line.startsWith('warn'))).toEqual([])
    await clock.advance(60_000)
    expect(lines.some((line) => line.startsWith('warn'))).toBe(true)
  })

  test('a worker that stops waits for running work, then aborts it', async () => {
    let aborted: unknown
    const { clock, worker } = fixture(
      (_key, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = signal.reason
            resolve()
          })
        }),
    )
    await worker.start()
    worker.add('a')
    await clock.advance(1)
    const stopped = worker.stop(1_000)
    await clock.advance(999)
    expect(aborted).toBeUndefined()
    await clock.advance(1)
    await stopped
    expect(aborted).toBeInstanceOf(TenureError)
  })

  test('work that ignores its signal is reported', async () => {
    const { clock, lines, worker } = fixture(() => new Promise(() => undefined))
    await worker.start()
    worker.add('a')
    await clock.advance(1)
    const stopped = worker.stop(0)
    await clock.advance(10_000)
    await stopped
    expect(lines).toContain('error worker stopped with work that ignores its signal')
  })
})
