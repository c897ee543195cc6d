import { VirtualClock } from '@tenure/kube/testing'
import { createMetrics } from '@tenure/runtime'
import { beforeEach, describe, expect, test } from 'vitest'
import type { StreamSink } from '../routes/response.ts'
import type { SseEvent, SseHubOptions, SseOpenOptions } from './hub.ts'
import { SseHub } from './hub.ts'

class Reader implements StreamSink {
  text = ''
  writes = 0
  buffered = 0
  isDestroyed = false
  isReading = true
  leave: () => void = () => undefined

  write(bytes: Uint8Array): void {
    this.writes++
    this.text += Buffer.from(bytes).toString()
    if (!this.isReading) this.buffered += bytes.length
  }
  end(): void {
    this.leave()
  }
  destroy(): void {
    this.isDestroyed = true
    this.leave()
  }
  /** The received ids, in order. */
  get ids(): readonly string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '')
  }
}

let clock: VirtualClock
beforeEach(() => {
  clock = new VirtualClock()
})

const hubOf = (options: Partial<SseHubOptions<string>> = {}): SseHub<string> =>
  new SseHub({ clock, name: 'test', ...options })

async function join(hub: SseHub<string>, options: Partial<SseOpenOptions<string>> = {}): Promise<Reader> {
  const response = await hub.open({ signal: new AbortController().signal, ...options })
  if (response.body.type !== 'stream') throw new Error('no stream')
  const reader = new Reader()
  reader.leave = response.body.open(reader)
  return reader
}

const event = (id: number, about = 'a'): SseEvent<string> => ({ id: String(id), data: { id }, about })
const only = (about: string) => ({ key: about, matches: (each: string) => each === about })

describe('SseHub', () => {
  test('a new reader gets later events as frames with ids', async () => {
    const hub = hubOf()
    hub.publish(event(1))
    const reader = await join(hub)
    expect(reader.text).toBe(': ok\n\n')
    hub.publish(event(2))
    expect(reader.text).toBe(': ok\n\nid: 2\ndata: {"id":2}\n\n')
    expect(hub.lastId).toBe('2')
  })

  test('a burst is one write, and no event waits longer than the interval', async () => {
    const hub = hubOf()
    const reader = await join(hub)
    for (let id = 1; id <= 100; id++) hub.publish(event(id))
    expect(reader.ids).toEqual(['1'])
    await clock.advance(20)
    expect(reader.ids).toHaveLength(100)
    expect(reader.writes).toBe(3)
  })

  test('readers with the same filter share bytes', async () => {
    const hub = hubOf({ batchInterval: 0 })
    const [a, b, all] = [
      await join(hub, { filter: only('a') }),
      await join(hub, { filter: only('b') }),
      await join(hub),
    ]
    hub.publish(event(1, 'a'))
    hub.publish(event(2, 'b'))
    expect([a.ids, b.ids, all.ids]).toEqual([['1'], ['2'], ['1', '2']])
  })

  test('one timer sends all heartbeats, and none runs without readers', async () => {
    const hub = hubOf()
    const readers = await Promise.all(Array.from({ length: 1_000 }, () => join(hub)))
    expect(clock.pending).toBe(1)
    await clock.advance(15_000)
    expect(readers.every(({ text }) => text === ': ok\n\n: heartbeat\n\n')).toBe(true)
    expect(clock.pending).toBe(1)
    for (const reader of readers) reader.leave()
    expect(hub.readers).toBe(0)
    expect(clock.pending).toBe(0)
    readers[0]?.leave()
    expect(hub.readers).toBe(0)
  })

  test('only a reader that does not read is disconnected', async () => {
    const metrics = await createMetrics({ processMetrics: false })
    const hub = hubOf({ bufferBytes: 1_000, batchInterval: 0, metrics })
    const [slow, fast] = [await join(hub), await join(hub)]
    slow.isReading = false
    for (let id = 1; id <= 100; id++) hub.publish(event(id))
    expect(slow.isDestroyed).toBe(true)
    expect(slow.buffered).toBeLessThan(1_100)
    expect(fast.ids).toHaveLength(100)
    expect(hub.readers).toBe(1)
    expect((await metrics.expose()).text).toContain('http_stream_readers_dropped_total{stream="test"} 1')
  })

  test('a reader resumes exactly after its last id', async () => {
    const hub = hubOf()
    for (let id = 1; id <= 5; id++) hub.publish(event(id))
    expect((await join(hub, { lastEventId: '3' })).ids).toEqual(['4', '5'])
    expect((await join(hub, { lastEventId: '5' })).ids).toEqual([])
    expect((await join(hub, { lastEventId: '1', filter: only('b') })).ids).toEqual([])
    // Two events share an id: a reader with the first may lack the second.
    hub.publish(event(5))
    expect((await join(hub, { lastEventId: '5' })).ids).toEqual(['5'])
  })

  test('an unknown id is a 410', async () => {
    const hub = hubOf({ replayFrames: 3 })
    for (let id = 1; id <= 5; id++) hub.publish(event(id))
    await expect(join(hub, { lastEventId: '2' })).rejects.toMatchObject({ status: 410 })
    expect((await join(hub, { lastEventId: '3' })).ids).toEqual(['4', '5'])
    const small = hubOf({ replayBytes: 60 })
    for (let id = 1; id <= 5; id++) small.publish(event(id))
    await expect(join(small, { lastEventId: '1' })).rejects.toMatchObject({ status: 410 })
  })

  test('a longer history is read without losing new events', async () => {
    const remembered = Promise.withResolvers<readonly SseEvent<string>[]>()
    const hub = hubOf({ history: () => remembered.promise })
    hub.publish(event(9))
    const joining = join(hub, { lastEventId: '5' })
    hub.publish(event(10))
    remembered.resolve([event(6), event(9), event(10)])
    hub.publish(event(11))
    const reader = await joining
    hub.publish(event(12))
    await clock.advance(20)
    expect(reader.ids).toEqual(['6', '9', '10', '11', '12'])
  })

  test('an event larger than the replay buffer is sent', async () => {
    const hub = hubOf({ replayBytes: 10 })
    const reader = await join(hub)
    hub.publish(event(1))
    hub.publish(event(2))
    await clock.advance(20)
    expect(reader.ids).toEqual(['1', '2'])
  })
})
