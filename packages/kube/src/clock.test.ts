import { expect, test } from 'vitest'
import { sleep, systemClock, withTimeout } from './clock.ts'
import { VirtualClock } from './testing/virtual-clock.ts'

test('the system clock never fires a timer early', async () => {
  for (const delay of [0, 1, 3, 7]) {
    const started = systemClock.monotonic()
    await sleep(systemClock, delay)
    expect(systemClock.monotonic() - started).toBeGreaterThanOrEqual(delay)
  }
})

test('the system clock supports delays beyond the limit of setTimeout', () => {
  let fired = false
  const timer = systemClock.setTimer(2 ** 40, () => (fired = true))
  timer.cancel()
  timer.cancel()
  expect(fired).toBe(false)
})

test('an aborted sleep rejects with the reason and leaves no timer behind', async () => {
  const clock = new VirtualClock()
  const controller = new AbortController()
  const asleep = sleep(clock, 1000, controller.signal)
  controller.abort(new Error('enough'))
  await expect(asleep).rejects.toThrow('enough')
  expect(clock.pending).toBe(0)
})

test('a sleep on an aborted signal arms no timer', async () => {
  const clock = new VirtualClock()
  await expect(sleep(clock, 1000, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
  expect(clock.pending).toBe(0)
})

test('a time-out aborts with its own reason or with that of its parent', async () => {
  const clock = new VirtualClock()
  const late = withTimeout(clock, 50, () => new Error('late'))
  const parent = new AbortController()
  const child = withTimeout(clock, 50, () => new Error('late'), parent.signal)
  parent.abort(new Error('stopped'))
  await clock.advance(50)
  expect(late.signal.reason).toEqual(new Error('late'))
  expect(child.signal.reason).toEqual(new Error('stopped'))
  child.dispose()
  expect(clock.pending).toBe(0)
})

test('virtual timers fire in order of due time, and a jump of the wall clock moves none', async () => {
  const clock = new VirtualClock(0)
  const fired: string[] = []
  clock.setTimer(20, () => fired.push(`b at ${clock.monotonic()}`))
  clock.setTimer(10, () => {
    fired.push(`a at ${clock.monotonic()}`)
    clock.setTimer(5, () => fired.push(`a2 at ${clock.monotonic()}`))
  })
  clock.jump(3_600_000)
  await clock.advance(30)
  expect(fired).toEqual(['a at 10', 'a2 at 15', 'b at 20'])
  expect(clock.now()).toBe(3_600_030)
})
