import { ApiError, ConnectionError } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { answered, type Machine, next, type Outcome, startWith, type Step } from './state-machine.ts'

const random = seededRandom(3)
const lost = new ConnectionError('TENURE_CONNECTION_LOST', 'lost')
const quiet = new ConnectionError('TENURE_WATCH_QUIET', 'quiet')
const api = (status: number, retryAfter?: number): ApiError => new ApiError('no', { status, reason: 'No', retryAfter })

const streaming: Step = { at: 'streaming' }
const paging: Step = { at: 'listing', paged: true }
const whole: Step = { at: 'listing', paged: false }
const watching: Step = { at: 'watching', resourceVersion: '5', continued: false }
const failed = (error: Error, lasted = 0, silent = false): Outcome => ({
  type: 'failed',
  error,
  resourceVersion: '7',
  lasted,
  silent,
})
const after = (step: Step, outcome: Outcome, more: Partial<Machine> = {}): Machine =>
  next({ ...startWith('streamed'), step, ...more }, outcome, random)

describe('the informer machine', () => {
  test.each<{ from: Step; by: Outcome; more?: Partial<Machine>; to: object }>([
    // The streamed list.
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
    // The list in pages.
    {
      from: paging,
      by: { type: 'listed', resourceVersion: '9', open: false },
      to: { at: 'watching', continued: false },
    },
    { from: paging, by: failed(api(410)), to: whole },
    { from: whole, by: failed(api(410)), to: { at: 'waiting', resume: undefined } },
    { from: whole, by: { type: 'partial' }, to: paging },
    { from: paging, by: failed(api(410)), more: { failures: 1 }, to: { at: 'waiting', resume: undefined } },
    // The watch.
    { from: watching, by: failed(lost), to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(api(500)), to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(quiet, 150_000), to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(quiet, 150_000, true), to: { at: 'waiting', resume: undefined } },
    // It was not even accepted: the connection is bad, and tells nothing of the version.
    { from: watching, by: failed(quiet, 1500, true), more: { error: lost }, to: { at: 'waiting', resume: '7' } },
    { from: watching, by: failed(api(410)), to: streaming },
    { from: watching, by: failed(api(410)), more: { mode: 'paged' }, to: paging },
    { from: watching, by: failed(api(410)), more: { mode: 'whole' }, to: whole },
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
    // The pause.
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
  ])('goes from $from.at by $by.type to $to', ({ from, by, more, to }) => {
    expect(after(from, by, more).step).toMatchObject(to)
  })

  test('remembers a server that can not stream lists, and only one that showed it', () => {
    expect(after(streaming, failed(api(422))).mode).toBe('paged')
    expect(after(streaming, { type: 'endless', certain: true }).mode).toBe('paged')
    expect(after(streaming, { type: 'endless', certain: false }).mode).toBe('streamed')
    expect(after(streaming, failed(lost)).mode).toBe('streamed')
  })

  test('lists in pages what did not come in one piece, and the other way round', () => {
    const start = startWith('whole')
    expect(start.step).toEqual(whole)
    const waited = (machine: Machine): Machine => next(machine, { type: 'waited' }, random)
    const second = waited(next(start, failed(lost), random))
    expect(second.step).toEqual(paging)
    // Its pages take longer than the server keeps their snapshot.
    expect(waited(next(second, failed(api(410)), random)).step).toEqual(whole)
    const third = waited(next(second, failed(api(504)), random))
    expect(third.step).toEqual(whole)
    // An answer, if a bad one: the mode is not to blame.
    expect(waited(next(third, failed(api(403)), random)).step).toEqual(whole)
    expect(waited(next(third, failed(api(429)), random)).step).toEqual(whole)
  })

  test('is in error from a failure until an answer', () => {
    const down = after(watching, failed(lost))
    expect(down.error).toBe(lost)
    expect(next(down, { type: 'waited' }, random).error).toBe(lost)
    expect(answered(down).error).toBeUndefined()
    // Nobody's failure: the server forgot, or ended the watch.
    expect(after(watching, failed(api(410))).error).toBeUndefined()
    expect(after(watching, { type: 'closed', resourceVersion: '8', lasted: 10 }).error).toBeUndefined()
    expect(after(watching, { type: 'closed', resourceVersion: '8', lasted: 10 }, { failures: 2 }).error).toBeDefined()
  })

  test('waits longer each time, up to a limit, and never less than the server asks', () => {
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
