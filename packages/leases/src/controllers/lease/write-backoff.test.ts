import { VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { WriteBackoff } from './write-backoff.ts'

test('writes are delayed with backoff after the first eight, until a minute passes without one', async () => {
  const clock = new VirtualClock()
  const quarrels = new WriteBackoff(clock)
  const pauses: number[] = []
  for (let count = 0; count < 18; count++) {
    pauses.push(quarrels.delay('a'))
    await clock.advance(quarrels.delay('a'))
    quarrels.written('a')
  }
  expect(pauses).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, ...Array(4).fill(30_000)])
  expect(quarrels.delay('b')).toBe(0)
  await clock.advance(60_000)
  expect(quarrels.delay('a')).toBe(0)
  quarrels.written('a')
  expect(quarrels.delay('a')).toBe(0)
})

test('forgotten objects and the least recently written are not delayed', () => {
  const quarrels = new WriteBackoff(new VirtualClock())
  for (let count = 0; count < 9; count++) for (const key of ['a', 'b']) quarrels.written(key)
  quarrels.forget('a')
  expect([quarrels.delay('a'), quarrels.delay('b')]).toEqual([0, 1_000])
  for (let index = 0; index < 10_000; index++) quarrels.written(`other ${index}`)
  expect(quarrels.delay('b')).toBe(0)
})
