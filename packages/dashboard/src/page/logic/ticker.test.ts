import { expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { Ticker } from './ticker.ts'

test('listeners are called at every full second', async () => {
  const clock = new FakeClock(1_000_300)
  const times: number[] = []
  new Ticker(clock).subscribe((now) => times.push(now))
  await clock.advance(2_800)
  expect(times).toEqual([1_001_000, 1_002_000, 1_003_000])
})

test('a ticker without listeners has no timer', async () => {
  const clock = new FakeClock()
  const ticker = new Ticker(clock)
  const ends = [ticker.subscribe(() => undefined), ticker.subscribe(() => undefined)]
  expect(clock.pending).toBe(1)
  for (const end of ends) end()
  expect(clock.pending).toBe(0)
  const end = ticker.subscribe(() => end())
  await clock.advance(1_000)
  expect(clock.pending).toBe(0)
})
