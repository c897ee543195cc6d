import { VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test, vi } from 'vitest'
import { ExpiringCache } from './expiring-cache.ts'

const resolving = (value: string) => () => Promise.resolve(value)

describe('ExpiringCache', () => {
  test('a value is loaded again when its lifetime has passed', async () => {
    const clock = new VirtualClock()
    const cache = new ExpiringCache<number>({ clock, lifetime: 100, maxEntries: 2 })
    const load = vi.fn<() => Promise<number>>().mockResolvedValueOnce(1).mockResolvedValueOnce(2)
    expect(await cache.get('a', load)).toBe(1)
    await clock.advance(99)
    expect(await cache.get('a', load)).toBe(1)
    await clock.advance(1)
    expect(await cache.get('a', load)).toBe(2)
    expect(load).toHaveBeenCalledTimes(2)
  })

  test('concurrent calls for one key share one load', async () => {
    const cache = new ExpiringCache<number>({ clock: new VirtualClock(), lifetime: 100, maxEntries: 2 })
    const load = vi.fn<() => Promise<number>>().mockResolvedValue(1)
    expect(await Promise.all([cache.get('a', load), cache.get('a', load)])).toEqual([1, 1])
    expect(load).toHaveBeenCalledTimes(1)
  })

  test('a failure is not cached', async () => {
    const cache = new ExpiringCache<number>({ clock: new VirtualClock(), lifetime: 100, maxEntries: 2 })
    await expect(cache.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(cache.size).toBe(0)
    expect(await cache.get('a', () => Promise.resolve(1))).toBe(1)
  })

  test('the least recently used entry is dropped first', async () => {
    const cache = new ExpiringCache<string>({ clock: new VirtualClock(), lifetime: 100, maxEntries: 2 })
    for (const key of ['a', 'b', 'a', 'c']) await cache.get(key, resolving(key))
    expect(cache.size).toBe(2)
    expect(await cache.get('a', resolving('new'))).toBe('a')
    expect(await cache.get('b', resolving('new'))).toBe('new')
  })
})
