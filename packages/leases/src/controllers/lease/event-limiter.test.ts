import { VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { EventLimiter } from './event-limiter.ts'

describe('EventLimiter', () => {
  test('a burst passes at once, later events follow in order at the rate', async () => {
    const clock = new VirtualClock()
    const paced = new EventLimiter({ clock, burst: 3, rate: 10 })
    const ran: number[] = []
    for (let index = 0; index < 10; index++) paced.add(() => void ran.push(index))
    expect(ran).toEqual([0, 1, 2])
    await clock.advance(350)
    expect(ran).toEqual([0, 1, 2, 3, 4, 5])
    await clock.advance(10_000)
    expect(ran).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(clock.pending).toBe(0)
  })

  test('events slow down while the controller is busy', async () => {
    const clock = new VirtualClock()
    let isBusy = true
    const paced = new EventLimiter({ clock, burst: 1, rate: 100, busyRate: 1, isBusy: () => isBusy })
    const ran: number[] = []
    for (let index = 0; index < 50; index++) paced.add(() => void ran.push(index))
    await clock.advance(5_000)
    expect(ran.length).toBeLessThanOrEqual(6)
    isBusy = false
    await clock.advance(2_000)
    expect(ran.length).toBe(50)
  })

  test('events past their time and the oldest beyond the limit are dropped', async () => {
    const clock = new VirtualClock()
    const paced = new EventLimiter({ clock, burst: 1, rate: 1, maxQueued: 3 })
    const ran: string[] = []
    const dropped: string[] = []
    const add = (name: string, until?: number): void =>
      paced.add(
        () => void ran.push(name),
        until,
        () => void dropped.push(name),
      )
    add('first')
    add('a', clock.now() + 500)
    add('b')
    add('c')
    add('d')
    expect([ran, dropped]).toEqual([['first'], ['a']])
    add('e', clock.now() + 1_500)
    expect(dropped).toEqual(['a', 'b'])
    await clock.advance(10_000)
    expect([ran, dropped]).toEqual([
      ['first', 'c', 'd'],
      ['a', 'b', 'e'],
    ])
  })

  test('a closed limiter passes everything at once', () => {
    const clock = new VirtualClock()
    const paced = new EventLimiter({ clock, burst: 1, rate: 1 })
    const ran: string[] = []
    for (const name of ['a', 'b', 'c']) paced.add(() => void ran.push(name))
    paced.add(
      () => void ran.push('late'),
      clock.now() + 60_000,
      () => void ran.push('late dropped'),
    )
    paced.close()
    paced.add(() => void ran.push('after'))
    expect(ran).toEqual(['a', 'b', 'c', 'late dropped', 'after'])
    expect(clock.pending).toBe(0)
  })

  test('the limiter forgets past events', async () => {
    const clock = new VirtualClock()
    const paced = new EventLimiter({ clock, burst: 1, rate: 1_000, maxQueued: 5_000 })
    for (let index = 0; index < 5_000; index++) paced.add(() => undefined)
    await clock.advance(4_000)
    expect(paced.size).toBeLessThan(1_100)
    await clock.advance(4_000)
    expect(paced.size).toBe(0)
  })
})
