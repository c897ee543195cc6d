import type { KubeObject, Stored } from '@tenure/kube'
import type { InformerEvent } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { publishInOrder } from './watch-order.ts'

type Event = InformerEvent<KubeObject>

function object(name: string, version: number): Stored<KubeObject> {
  const metadata = { name, uid: name, resourceVersion: String(version), creationTimestamp: '2026-01-01T00:00:00Z' }
  return { apiVersion: 'v1', kind: 'Thing', metadata }
}

const added = (of: Stored<KubeObject>): Event => ({ type: 'added', object: of, initial: false })

/** A fake informer and the published events: `added a 1`. */
function setup(start = 0) {
  const handlers: ((event: Event) => void)[] = []
  const onProgress: (() => void)[] = []
  const published: Event[] = []
  const informer = {
    lastSyncResourceVersion: String(start),
    subscribe: (handler: (event: Event) => void) => {
      handlers.push(handler)
      return () => undefined
    },
    onProgress: (handler: () => void) => {
      onProgress.push(handler)
      return () => undefined
    },
  }
  publishInOrder(informer, (event) => void published.push(event))
  const tell = (event: Event): void => handlers.forEach((handler) => handler(event))
  const progress = (version: number): void => {
    informer.lastSyncResourceVersion = String(version)
    onProgress.forEach((handler) => handler())
  }
  return {
    published,
    /** An own write that the watch has not delivered yet. */
    own: tell,
    progress,
    /** An event of the watch. */
    watched: (event: Event) => {
      informer.lastSyncResourceVersion = event.object.metadata.resourceVersion
      tell(event)
      progress(Number(informer.lastSyncResourceVersion))
    },
    get told() {
      return published.map(({ type, object: { metadata } }) => `${type} ${metadata.name} ${metadata.resourceVersion}`)
    },
  }
}

test('an event of the watch is published at once', () => {
  const fixture = setup()
  fixture.watched(added(object('a', 1)))
  expect(fixture.told).toEqual(['added a 1'])
})

test('own writes wait for older writes of others, whatever the order of their responses', () => {
  const fixture = setup(1)
  fixture.own(added(object('c', 4)))
  fixture.own(added(object('b', 3)))
  expect(fixture.told).toEqual([])
  fixture.watched(added(object('a', 2)))
  expect(fixture.told).toEqual(['added a 2'])
  // Echoes of own writes are not published again.
  fixture.progress(3)
  expect(fixture.told).toEqual(['added a 2', 'added b 3'])
  fixture.watched(added(object('d', 5)))
  expect(fixture.told).toEqual(['added a 2', 'added b 3', 'added c 4', 'added d 5'])
})

test('a partially known write is published once and whole', () => {
  const fixture = setup(1)
  const [old, part, whole] = [object('a', 1), object('a', 3), object('a', 3)]
  fixture.own({ type: 'modified', object: part, old })
  fixture.watched({ type: 'modified', object: whole, old: part })
  expect(fixture.told).toEqual(['modified a 3'])
  const [event] = fixture.published
  expect(event?.object).toBe(whole)
  expect(event?.type === 'modified' && event.old).toBe(old)
})

test('held writes are dropped if the server was restored to an older state', () => {
  const fixture = setup(7)
  fixture.own(added(object('lost', 9)))
  fixture.progress(3)
  fixture.progress(20)
  expect(fixture.told).toEqual([])
})

test('initial objects are not published', () => {
  const fixture = setup(1)
  fixture.own({ type: 'added', object: object('a', 1), initial: true })
  fixture.own({ type: 'added', object: object('b', 2), initial: true })
  fixture.progress(5)
  expect(fixture.told).toEqual([])
})
