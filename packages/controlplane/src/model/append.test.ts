import { expect, test } from 'vitest'
import { append } from './append.ts'

test('lists that are longer than the arguments of a call are appended in order', () => {
  const long = Array.from({ length: 500_000 }, (_, index) => index + 1)
  const list = [0]
  append(list, long, [-1])
  expect(list).toHaveLength(500_002)
  expect([list[0], list[1], list[500_000], list[500_001]]).toEqual([0, 1, 500_000, -1])
})
