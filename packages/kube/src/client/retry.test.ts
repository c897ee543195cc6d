import { describe, expect, it } from 'vitest'
import { ApiError, ConnectionError } from '../errors/errors.ts'
import { RetryPolicy } from './retry.ts'
import type { RetryOptions } from './retry.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const lost = new ConnectionError('TENURE_TEST_LOST', 'no answer')
const answer = (status: number, retryAfter?: number): ApiError =>
  new ApiError(`${status}`, { status, reason: 'Test', retryAfter })

/** When each attempt began, and how it all ended. */
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
  it.each([
    ['no answer', lost],
    ['500', answer(500)],
    ['502', answer(502)],
    ['503', answer(503)],
    ['504', answer(504)],
  ])('repeats after %s only what is idempotent', async (_, failure) => {
    expect((await attemptsOf([failure], { idempotent: true })).result).toBe('done')
    const once = await attemptsOf([failure], { idempotent: false })
    expect(once.result).toBe(failure)
    expect(once.times).toHaveLength(1)
  })

  it.each([
    ['429', answer(429)],
    ['429 with a time', answer(429, 1000)],
    ['503 with a time', answer(503, 1000)],
  ])('repeats anything after %s: it was not carried out', async (_, failure) => {
    expect((await attemptsOf([failure, failure], { idempotent: false })).result).toBe('done')
  })

  it.each([400, 401, 403, 404, 405, 409, 410, 422, 501])('does not repeat after %i', async (status) => {
    const { times } = await attemptsOf([answer(status)], { idempotent: true })
    expect(times).toHaveLength(1)
  })

  it('does not repeat what is not worth it: a connection error whose fate is terminal, or a bug', async () => {
    const refused = new ConnectionError('TENURE_TEST_TLS', 'bad certificate', { fate: 'terminal' })
    expect((await attemptsOf([refused], { idempotent: true })).times).toHaveLength(1)
    expect((await attemptsOf([new TypeError('bug')], { idempotent: true })).times).toHaveLength(1)
  })

  it('never comes before the time the server named', async () => {
    for (let seed = 1; seed < 50; seed++) {
      const { times } = await attemptsOf([answer(429, 2000)], { idempotent: false, seed })
      expect(times[1]).toBeGreaterThanOrEqual(2000)
      expect(times[1]).toBeLessThan(2500)
    }
  })

  it('does not wait for a time beyond its budget: who asked can', async () => {
    const failure = answer(429, 60_000)
    const { times, result } = await attemptsOf([failure], { idempotent: true })
    expect(times).toEqual([0])
    expect(result).toBe(failure)
  })

  it('waits twice as long each time, up to the longest, cut by at most half', async () => {
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

  it('gives up after 5 attempts, within 10 seconds, with the last error', async () => {
    const failures = Array.from({ length: 9 }, () => answer(500))
    const { times, result } = await attemptsOf(failures, { idempotent: true })
    expect(times).toHaveLength(5)
    expect(times.at(-1)).toBeLessThanOrEqual(10_000)
    expect(result).toBe(failures[4])
  })

  it('stops waiting when aborted, and leaves no timer', async () => {
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

  it('does not repeat after an abort', async () => {
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
