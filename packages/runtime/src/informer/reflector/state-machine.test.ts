import { ApiError, ConnectionError } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { responded, type Machine, next, type Outcome, startWith, type WatchStep } from './state-machine.ts'

const random = seededRandom(3)
const lost = new ConnectionError('TENURE_CONNECTION_LOST', 'lost')
const quiet = new ConnectionError('TENURE_WATCH_QUIET', 'quiet')
const api = (status: number, retryAfter?: number): ApiError => new ApiError('no', { status, reason: 'No', retryAfter })

const streaming: WatchStep = { at: 'streaming' }
const paging: WatchStep = { at: 'listing', paged: true }
const whole: WatchStep = { at: 'listing', paged: false }
const watching: WatchStep = { at: 'watching', resourceVersion: '5', continued: false }
const failed = (error: Error, lasted = 0, silent = false): Outcome => ({
  type: 'failed',
  error,
  resourceVersion: '7',
  lasted,
  silent,
})
const after = (step: WatchStep, outcome: Outcome, more: Partial<Machine> = {}): Machine =>
  next({ ...startWith('streaming'), step, ...more }, outcome, random)

describe('informer state machine', () => {
  test.each<{ from: WatchStep; by: Outcome; more?: Partial<Machine>; to: object }>([
    // Streaming list.
    {
      from: streaming,
      by: { type: 'listed', resourceVersion: '9', open: true },
      to: { at: 'watching', continued: true },
    },
    { from: streaming, by: failed(api(400)), to: paging },
    { from: streaming, by: failed(api(422)), to: paging },
    { from: streaming, by: { type: 'endless', certain: false }, to: paging },
    { from: streaming, by: failed(lost), to: { at: 'waiting', resume: undefined } },
    { from: streaming, by: failed(api(404)), to: { at: 'waiting', resume: undefined } },
    // Paged list.
    {
      from: paging,
      by: { type: 'listed', resourceVersion: '9', open: false },
      to: { at: 'watching', continued: false },
    },
    { from: paging, by: failed(api(410)), to: whole },
    { from: whole, by: failed(api(410)), to: { at: 'waiting', resume: undefined } },
    { from: whole, by: { type: 'partial' }, to: paging },
    { from: paging, by: failed(api(410)), more: { failures: 1 }, to: { at: 'waiting', resume: undefined } },
    // Watch.
    { from: watching, by: failed(lost), to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(api(500)), to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(quiet, 150_000), to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(quiet, 150_000, true), to: { at: 'waiting', resume: undefined } },
    // The watch was not even accepted: the connection is bad, which says nothing about the version.
    { from: watching, by: failed(quiet, 1500, true), more: { error: lost }, to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(api(410)), to: streaming },
    { from: watching, by: failed(api(410)), more: { mode: 'paged' }, to: paging },
    { from: watching, by: failed(api(410)), more: { mode: 'full' }, to: whole },
    { from: watching, by: failed(api(410)), more: { failures: 1 }, to: { at: 'waiting', resume: undefined } },
    { from: watching, by: failed(api(404)), to: { at: 'waiting', resume: undefined } },
    { from: watching, by: failed(api(400)), to: { at: 'waiting', resume: undefined } },
    { from: watching, by: failed(api(500)), more: { failures: 5 }, to: { at: 'waiting', resume: undefined } },
    { from: watching, by: failed(lost), more: { failures: 50 }, to: { at: 'waiting', resume: '7' } },
    {
      from: watching,
      by: { type: 'closed', resourceVersion: '8', lasted: 300_000 },
      to: { at: 'watching', resourceVersion: '8', continued: false },
    },
    { from: watching, by: { type: 'closed', resourceVersion: '8', lasted: 10 }, to: { at: 'waiting', resume: '8' } },
    // Backoff.
    {
      from: { at: 'waiting', delay: 1, resume: '7' },
      by: { type: 'waited' },
      to: { ...watching, resourceVersion: '7' },
    },
    { from: { at: 'waiting', delay: 1, resume: undefined }, by: { type: 'waited' }, to: streaming },
    {
      from: { at: 'waiting', delay: 1, resume: undefined },
      by: { type: 'waited' },
      more: { mode: 'paged' },
      to: paging,
    },
  ])('$from.at goes to $to on $by.type', ({ from, by, more, to }) => {
    expect(after(from, by, more).step).toMatchObject(to)
  })

  test('only a server that proved not to support streaming is remembered as such', () => {
    expect(after(streaming, failed(api(422))).mode).toBe('paged')
    expect(after(streaming, { type: 'endless', certain: true }).mode).toBe('paged')
    expect(after(streaming, { type: 'endless', certain: false }).mode).toBe('streaming')
    expect(after(streaming, failed(lost)).mode).toBe('streaming')
  })

  test('a failed full list is paged, and failed pages become a full list', () => {
    const start = startWith('full')
    expect(start.step).toEqual(whole)
    const waited = (machine: Machine): Machine => next(machine, { type: 'waited' }, random)
    const second = waited(next(start, failed(lost), random))
    expect(second.step).toEqual(paging)
    // Paging takes longer than the server keeps the snapshot.
    expect(waited(next(second, failed(api(410)), random)).step).toEqual(whole)
    const third = waited(next(second, failed(api(504)), random))
    expect(third.step).toEqual(whole)
    // The server responded with an error: the mode is not the cause.
    expect(waited(next(third, failed(api(403)), random)).step).toEqual(whole)
    expect(waited(next(third, failed(api(429)), random)).step).toEqual(whole)
  })

  test('the error lasts from a failure until a response', () => {
    const down = after(watching, failed(lost))
    expect(down.error).toBe(lost)
    expect(next(down, { type: 'waited' }, random).error).toBe(lost)
    expect(responded(down).error).toBeUndefined()
    // Not a failure: the history expired, or the server ended the watch.
    expect(after(watching, failed(api(410))).error).toBeUndefined()
    expect(after(watching, { type: 'closed', resourceVersion: '8', lasted: 10 }).error).toBeUndefined()
    expect(after(watching, { type: 'closed', resourceVersion: '8', lasted: 10 }, { failures: 2 }).error).toBeDefined()
  })

  test('the delay grows up to a limit and is never below Retry-After', () => {
    const delayAfter = (failures: number, error: Error = lost): number => {
      const { step } = after(watching, failed(error), { failures })
      return step.at === 'waiting' ? step.delay : -1
    }
    for (let round = 0; round < 50; round++) {
      expect(delayAfter(0)).toBeGreaterThanOrEqual(600)
      expect(delayAfter(0)).toBeLessThan(1000)
      expect(delayAfter(3)).toBeGreaterThanOrEqual(4800)
      expect(delayAfter(100)).toBeLessThan(37_500)
      expect(delayAfter(0, api(429, 90_000))).toBeGreaterThanOrEqual(90_000)
    }
    expect(after(watching, failed(lost), { failures: 9 }).failures).toBe(10)
    expect(after(watching, failed(lost, 60_000), { failures: 9 }).failures).toBe(1)
  })
})
