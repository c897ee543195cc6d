import { expect, test } from 'vitest'
import { KINDS } from '../../registry/testing/catalog.ts'
import { unstored } from '../../registry/decode/derived-object.ts'
import type { WatchItem, WatchSession } from '../../registry/request.ts'
import type { StoredObject } from '../../storage/types.ts'
import { WHOLE } from '../encoding/negotiation.ts'
import type { Representation } from '../encoding/negotiation.ts'
import { WatchFeed } from './watch-feed.ts'

class FakeSession implements WatchSession {
  send: (item: WatchItem) => void = () => undefined
  #ended: () => void = () => undefined
  isClosed = false
  readonly #initial: readonly WatchItem[]

  constructor(initial: readonly WatchItem[] = []) {
    this.#initial = initial
  }

  open(send: (item: WatchItem) => void, ended: () => void): void {
    this.send = send
    this.#ended = ended
    for (const item of this.#initial) send(item)
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#ended()
  }
}

const OPTIONS = { definition: KINDS.configMap, representation: WHOLE, includeObject: undefined, now: 0 }

function stored(name: string): StoredObject {
  const metadata = { name, uid: name, resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' }
  return unstored(name, { kind: 'ConfigMap', apiVersion: 'v1', metadata })
}

test('events are sent in order, one line each, within the size limit', () => {
  const session = new FakeSession()
  const feed = new WatchFeed(session, OPTIONS)
  feed.open(() => undefined)
  session.send({ type: 'ADDED', stored: stored('a') })
  session.send({ type: 'BOOKMARK', revision: 9, initialEventsEnd: true })
  const first = feed.take(1)?.toString() ?? ''
  expect(JSON.parse(first)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
  expect(feed.take(1000)?.toString()).toBe(
    '{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}\n',
  )
  expect(feed.take(1000)).toBeUndefined()
  session.close()
  expect(feed.isOver).toBe(true)
})

test('the bytes of an event are made once for all watches', () => {
  const object = stored('a')
  const take = (): Buffer | undefined => {
    const session = new FakeSession([{ type: 'ADDED', stored: object }])
    const feed = new WatchFeed(session, OPTIONS)
    feed.open(() => undefined)
    return feed.take(1000)
  }
  expect(take()).toBe(take())
})

const added = (name: string): WatchItem => ({ type: 'ADDED', stored: stored(name) })

function taken(items: readonly WatchItem[], representation: Representation = WHOLE): Buffer | undefined {
  const feed = new WatchFeed(new FakeSession(items), { ...OPTIONS, representation })
  feed.open(() => undefined)
  return feed.take(10_000)
}

test('a batch of events is encoded once for all watches of the same selection', () => {
  const [first, second, third] = [added('a'), added('b'), added('c')]
  const bytes = taken([first, second, third])
  expect(taken([first, second, third])).toBe(bytes)
  const lines = bytes?.toString().trimEnd().split('\n') ?? []
  expect(lines).toHaveLength(3)
  // A watch with fewer or other events gets its own bytes.
  expect(taken([first, second])?.toString()).toBe(`${lines.slice(0, 2).join('\n')}\n`)
  const bookmark: WatchItem = { type: 'BOOKMARK', revision: 8, initialEventsEnd: false }
  expect(taken([first, bookmark, second, third])?.toString().trimEnd().split('\n')).toHaveLength(4)
  const metadata = taken([first, second, third], { format: 'json', content: 'metadata', version: 'v1' })
  expect(metadata?.toString()).toContain('PartialObjectMetadata')
})

test('a reader that does not read is cut off and releases its events', () => {
  const initial = Array.from({ length: 30_000 }, (): WatchItem => ({ type: 'ADDED', stored: stored('a') }))
  const session = new FakeSession(initial)
  const feed = new WatchFeed(session, OPTIONS)
  feed.open(() => undefined)
  for (let index = 0; index < 20_000; index++)
    session.send({ type: 'BOOKMARK', revision: index, initialEventsEnd: false })
  expect(session.isClosed).toBe(false)
  session.send({ type: 'BOOKMARK', revision: 1, initialEventsEnd: false })
  expect(session.isClosed).toBe(true)
  expect(feed.wasCut).toBe(true)
  expect(feed.take(1000)).toBeUndefined()
})

function large(name: string): WatchItem {
  const object = { ...stored(name).object, data: { text: 'x'.repeat(1_000_000) } }
  return { type: 'MODIFIED', stored: unstored(name, object) }
}

test('a reader that does not read is cut off earlier if its events are large, not counting the initial state', () => {
  const one = large('a')
  const session = new FakeSession(Array.from({ length: 200 }, () => one))
  const feed = new WatchFeed(session, OPTIONS)
  feed.open(() => undefined)
  for (let index = 0; index < 60; index++) session.send(one)
  expect(session.isClosed).toBe(false)
  for (let index = 0; index < 30; index++) session.send(one)
  expect(session.isClosed).toBe(true)
  expect(feed.wasCut).toBe(true)
})

test('a reader that keeps up may receive any amount over time', () => {
  const session = new FakeSession()
  const feed = new WatchFeed(session, OPTIONS)
  feed.open(() => undefined)
  for (let index = 0; index < 200; index++) {
    session.send(large('a'))
    feed.take(1)
  }
  expect(session.isClosed).toBe(false)
})
