import { expect, test } from 'vitest'
import { humanDuration } from './age.ts'

test.each([
  [0, '0s'],
  [-500, '0s'],
  [-5000, '<invalid>'],
  [119_000, '119s'],
  [120_000, '2m'],
  [185_000, '3m5s'],
  [11 * 60_000, '11m'],
  [3 * 3_600_000, '3h'],
  [3 * 3_600_000 + 60_000, '3h1m'],
  [30 * 3_600_000, '30h'],
  [50 * 3_600_000, '2d2h'],
  [300 * 86_400_000, '300d'],
  [800 * 86_400_000, '2y70d'],
  [4000 * 86_400_000, '10y'],
])('%d ms are printed as %s', (milliseconds, text) => {
  expect(humanDuration(milliseconds)).toBe(text)
})
