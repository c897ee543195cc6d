import { VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { openStorage } from '../storage/index.ts'
import { expireEvents } from './event-expiry.ts'

test('an event is removed an hour after its last write, and no other object is', async () => {
  const clock = new VirtualClock()
  const storage = await openStorage({ clock, log: silentLogger })
  const end = expireEvents(storage, clock, silentLogger)
  const time = (): string => new Date(clock.now()).toISOString()
  const put = (bucket: string, name: string) =>
    storage.write(bucket, `default/${name}`, (current) => ({
      put: {
        metadata: {
          name,
          namespace: 'default',
          creationTimestamp: current?.object.metadata.creationTimestamp ?? time(),
        },
        lastTimestamp: time(),
      } as object,
    }))
  await put('events', 'once')
  await put('events', 'again')
  await put('configmaps', 'kept')
  await clock.advance(3_000_000)
  await put('events', 'again')
  await clock.advance(1_200_000)
  expect([...storage.range('events')].map(({ key }) => key)).toEqual(['default/again'])
  expect(storage.count('configmaps')).toBe(1)
  await clock.advance(3_000_000)
  expect(storage.count('events')).toBe(0)
  end()
  expect(clock.pending).toBe(0)
  await storage.close()
})
