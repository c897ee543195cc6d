import type { KubeObject, Stored } from '@tenure/kube'
import type { InformerEvent } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { inOrder } from './watch-order.ts'

type Event = InformerEvent<KubeObject>

function object(name: string, version: number): Stored<KubeObject> {
  const metadata = { name, uid: name, resourceVersion: String(version), creationTimestamp: '2026-01-01T00:00:00Z' }
  return { apiVersion: 'v1', kind: 'Thing', metadata }
}

const added = (of: Stored<KubeObject>): Event => ({ type: 'added', object: of, initial: false })

/** An informer by hand, and what comes out behind it: `added a 1`. */
function world(start = 0) {
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
  inOrder(informer, (event) => void published.push(event))
  const tell = (event: Event): void => handlers.forEach((handler) => handler(event))
  const progress = (version: number): void => {
    informer.lastSyncResourceVersion = String(version)
    onProgress.forEach((handler) => handler())
  }
  return {
    published,
    /** A write of our own, which the watch has not brought yet. */
    own: tell,
    progress,
    /** What the watch brings. */
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

test('what the watch brings is told at once', () => {
  const here = world()
  here.watched(added(object('a', 1)))
  expect(here.told).toEqual(['added a 1'])
})

test('own writes wait for what was written before them, whatever the order of their answers', () => {
  const here = world(1)
  here.own(added(object('c', 4)))
  here.own(added(object('b', 3)))
  expect(here.told).toEqual([])
  here.watched(added(object('a', 2)))
  expect(here.told).toEqual(['added a 2'])
  // Their own echoes are no events.
  here.progress(3)
  expect(here.told).toEqual(['added a 2', 'added b 3'])
  here.watched(added(object('d', 5)))
  expect(here.told).toEqual(['added a 2', 'added b 3', 'added c 4', 'added d 5'])
})

test('what was known in part is told whole, and once', () => {
  const here = world(1)
  const [old, part, whole] = [object('a', 1), object('a', 3), object('a', 3)]
  here.own({ type: 'modified', object: part, old })
  here.watched({ type: 'modified', object: whole, old: part })
  expect(here.told).toEqual(['modified a 3'])
  const [event] = here.published
  expect(event?.object).toBe(whole)
  expect(event?.type === 'modified' && event.old).toBe(old)
})

test('what a server forgot when it went back in time is never told', () => {
  const here = world(7)
  here.own(added(object('lost', 9)))
  here.progress(3)
  here.progress(20)
  expect(here.told).toEqual([])
})

test('what was there at the start is nothing that happens', () => {
  const here = world(1)
  here.own({ type: 'added', object: object('a', 1), initial: true })
  here.own({ type: 'added', object: object('b', 2), initial: true })
  here.progress(5)
  expect(here.told).toEqual([])
})
