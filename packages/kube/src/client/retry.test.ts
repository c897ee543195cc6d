import { describe, expect, test } from 'vitest'
import { ApiError, ConnectionError } from '../errors/errors.ts'
import { RetryPolicy } from './retry.ts'
import type { RetryOptions } from './retry.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const lost = new ConnectionError('TENURE_TEST_LOST', 'no response')
const apiError = (status: number, retryAfter?: number): ApiError =>
  new ApiError(`${status}`, { status, reason: 'Test', retryAfter })

/** The start time of each attempt, and the outcome. */
async function attemptsOf(
  failures: readonly Error[],
  request: { readonly idempotent: boolean; readonly options?: RetryOptions; readonly seed?: number },
): Promise<{ readonly times: readonly number[]; readonly result: unknown }> {
  const clock = new VirtualClock()
  const policy = new RetryPolicy(clock, seededRandom(request.seed ?? 1), request.options)
  const times: number[] = []
  let result: unknown
  const attempt = (number: number): Promise<string> => {
    times.push(clock.monotonic())
    const failure = failures[number - 1]
    return failure ? Promise.reject(failure) : Promise.resolve('done')
  }
  const finished = (async () => {
    try {
      result = await policy.run(attempt, request)
    } catch (error) {
      result = error
    }
  })()
  await clock.advanceUntil(() => result !== undefined)
  await finished
  expect(clock.pending).toBe(0)
  return { times, result }
}

describe('RetryPolicy', () => {
  test.each([
    ['no response', lost],
    ['500', apiError(500)],
    ['502', apiError(502)],
    ['503', apiError(503)],
    ['504', apiError(504)],
  ])('only idempotent requests are retried after %s', async (_, failure) => {
    expect((await attemptsOf([failure], { idempotent: true })).result).toBe('done')
    const once = await attemptsOf([failure], { idempotent: false })
    expect(once.result).toBe(failure)
    expect(once.times).toHaveLength(1)
  })

  test.each([
    ['429', apiError(429)],
    ['429 with a time', apiError(429, 1000)],
    ['503 with a time', apiError(503, 1000)],
  ])('every request is retried after %s, because it was not processed', async (_, failure) => {
    expect((await attemptsOf([failure, failure], { idempotent: false })).result).toBe('done')
  })

  test.each([400, 401, 403, 404, 405, 409, 410, 422, 501])('there is no retry after %i', async (status) => {
    const { times } = await attemptsOf([apiError(status)], { idempotent: true })
    expect(times).toHaveLength(1)
  })

  test('terminal connection errors and bugs are not retried', async () => {
    const refused = new ConnectionError('TENURE_TEST_TLS', 'bad certificate', { fate: 'terminal' })
    expect((await attemptsOf([refused], { idempotent: true })).times).toHaveLength(1)
    expect((await attemptsOf([new TypeError('bug')], { idempotent: true })).times).toHaveLength(1)
  })

  test('a retry never starts before the time of Retry-After', async () => {
    for (let seed = 1; seed < 50; seed++) {
      const { times } = await attemptsOf([apiError(429, 2000)], { idempotent: false, seed })
      expect(times[1]).toBeGreaterThanOrEqual(2000)
      expect(times[1]).toBeLessThan(2500)
    }
  })

  test('a Retry-After beyond the budget fails at once', async () => {
    const failure = apiError(429, 60_000)
    const { times, result } = await attemptsOf([failure], { idempotent: true })
    expect(times).toEqual([0])
    expect(result).toBe(failure)
  })

  test('delays double up to the maximum, with jitter of at most half', async () => {
    for (let seed = 1; seed < 50; seed++) {
      const options = { attempts: 7, initialDelay: 100, maxDelay: 800 }
      const { times } = await attemptsOf(
        Array.from({ length: 6 }, () => lost),
        { idempotent: true, options, seed },
      )
      const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
      for (const [index, longest] of [100, 200, 400, 800, 800, 800].entries()) {
        expect(waits[index]).toBeGreaterThan(longest / 2 - 1)
        expect(waits[index]).toBeLessThanOrEqual(longest + 1)
      }
    }
  })

  test('retries end after 5 attempts within 10 seconds with the last error', async () => {
    const failures = Array.from({ length: 9 }, () => apiError(500))
    const { times, result } = await attemptsOf(failures, { idempotent: true })
    expect(times).toHaveLength(5)
    expect(times.at(-1)).toBeLessThanOrEqual(10_000)
    expect(result).toBe(failures[4])
  })

  test('an abort ends the wait and leaves no timer', async () => {
    const clock = new VirtualClock()
    const abort = new AbortController()
    const run = new RetryPolicy(clock, seededRandom()).run(
      () => Promise.reject(lost),
      { idempotent: true },
      abort.signal,
    )
    const rejected = run.catch((error: unknown) => error)
    await clock.advance(1)
    expect(clock.pending).toBe(1)
    abort.abort(new Error('enough'))
    expect(await rejected).toMatchObject({ message: 'enough' })
    expect(clock.pending).toBe(0)
  })

  test('there is no retry after an abort', async () => {
    const abort = new AbortController()
    let attempts = 0
    const run = new RetryPolicy(new VirtualClock(), seededRandom()).run(
      () => {
        attempts++
        abort.abort()
        return Promise.reject(lost)
      },
      { idempotent: true },
      abort.signal,
    )
    await expect(run).rejects.toBe(lost)
    expect(attempts).toBe(1)
  })
})
