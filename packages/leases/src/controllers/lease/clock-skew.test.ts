import { VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { ClockSkew } from './clock-skew.ts'

function checked(ahead: number | undefined): { readonly clock: VirtualClock; readonly check: ClockSkew } {
  const clock = new VirtualClock()
  const check = new ClockSkew(clock)
  check.compare(ahead === undefined ? undefined : clock.now() - ahead)
  return { clock, check }
}

test('a clock is not accurate before the first comparison', () => {
  expect(new ClockSkew(new VirtualClock()).isAccurate).toBe(false)
})

test.each([
  [-3_600_000, false],
  [-1_000, false],
  [-900, true],
  [0, true],
  [2_900, true],
  [3_000, false],
  [3_600_000, false],
  [undefined, false],
])('a clock %s ms ahead of the server is accurate: %s', (ahead, isAccurate) => {
  expect(checked(ahead).check.isAccurate).toBe(isAccurate)
})

test('a comparison is valid for a minute', async () => {
  const { clock, check } = checked(0)
  await clock.advance(59_000)
  expect(check.isAccurate).toBe(true)
  await clock.advance(1_000)
  expect(check.isAccurate).toBe(false)
  check.compare(clock.now())
  expect(check.isAccurate).toBe(true)
})

test.each([-60_000, 60_000])('a clock that was set by %i ms is not accurate until it is set back', (jump) => {
  const { clock, check } = checked(0)
  clock.jump(jump)
  expect(check.isAccurate).toBe(false)
  clock.jump(-jump)
  expect(check.isAccurate).toBe(true)
})
