/**
 * Tests the client's watches on a real API server. Reconnecting is the informer's task: see informer-faults.test.ts.
 */
import type { Kind, KubeObject, WatchEvent, WatchOptions } from '@tenure/kube'
import { compareResourceVersions, isGone, mergePatch, metadataOf } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type Connected, connect } from './support/connect.ts'
import { customResource } from './support/custom-resource.ts'
import { type TestNamespace, createNamespace } from './support/namespace.ts'

let connection: Connected
let client: Connected['client']
let home: TestNamespace
let namespace: string

beforeAll(async () => {
  connection = await connect(workerKubeconfig())
  client = connection.client
})

beforeEach(async () => {
  home = await createNamespace(client, 'watch-test')
  namespace = home.name
  return () => home.remove()
})

afterAll(() => connection.close())

const SELECTOR = 'watched'
const create = (name: string): Promise<{ metadata: { resourceVersion: string } }> =>
  client.create(ConfigMap, { metadata: { name, namespace, labels: { watched: 'yes' } }, data: { a: '1' } })

/** Returns the events of a watch up to and including the first for which `isLast` holds. */
async function eventsUntil<T extends KubeObject>(
  kind: Kind<T>,
  options: WatchOptions,
  isLast: (event: WatchEvent<T>) => boolean,
): Promise<readonly WatchEvent<T>[]> {
  const events: WatchEvent<T>[] = []
  for await (const batch of client.watch(kind, { namespace, labelSelector: SELECTOR, ...options })) {
    for (const event of batch) {
      events.push(event)
      if (isLast(event)) return events
    }
  }
  throw new Error(`The watch ended after ${events.length} events`)
}

const isEnd = (event: WatchEvent<KubeObject>): boolean => event.type === 'BOOKMARK' && event.initialEventsEnd
const isDeletion = (event: WatchEvent<KubeObject>): boolean => event.type === 'DELETED'
const described = (events: readonly WatchEvent<KubeObject>[]): readonly string[] =>
  events.map((event) => (event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.object.metadata.name}`))

describe('a watch', () => {
  test('a watch from a resourceVersion delivers every later event once and in order', async () => {
    const { metadata } = await create('a')
    await create('b')
    await client.patch(ConfigMap, { name: 'a', namespace }, mergePatch({ data: { a: '2' } }))
    await client.patch(ConfigMap, { name: 'b', namespace }, mergePatch({ metadata: { labels: { watched: null } } }))
    await client.delete(ConfigMap, { name: 'a', namespace })
    const { resourceVersion } = metadata
    const events = await eventsUntil(
      ConfigMap,
      { resourceVersion, bookmarks: false },
      (event) => event.type === 'DELETED' && event.object.metadata.name === 'a',
    )
    // An object that leaves the selection is reported as deleted.
    expect(described(events)).toEqual(['ADDED b', 'MODIFIED a', 'DELETED b', 'DELETED a'])
    expect(events[1]).toMatchObject({ object: { kind: 'ConfigMap', apiVersion: 'v1', data: { a: '2' } } })
    const versions = events.map((event) => (event.type === 'BOOKMARK' ? '' : event.object.metadata.resourceVersion))
    expect(versions).toEqual(versions.toSorted(compareResourceVersions))
  })

  test('a watch with sendInitialEvents delivers the state, a bookmark and then the changes', async () => {
    await Promise.all(['a', 'b', 'c'].map(create))
    let opened = 0
    const options = { sendInitialEvents: true, onOpen: () => void opened++ }
    const initial = await eventsUntil(ConfigMap, options, isEnd)
    expect(described(initial).toSorted()).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'BOOKMARK'])
    expect(described(initial).at(-1)).toBe('BOOKMARK')
    expect(opened).toBe(1)

    const deletion = eventsUntil(
      ConfigMap,
      { sendInitialEvents: true, onOpen: () => void client.delete(ConfigMap, { name: 'b', namespace }) },
      isDeletion,
    )
    expect(described(await deletion).at(-1)).toBe('DELETED b')
  })

  test('a watch of metadata delivers only metadata', async () => {
    await create('a')
    const Meta = metadataOf(ConfigMap)
    const initial = await eventsUntil(Meta, { sendInitialEvents: true }, isEnd)
    const { metadata } = await client.get(ConfigMap, { name: 'a', namespace })
    expect(initial[0]).toEqual({ type: 'ADDED', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } })
    await client.delete(ConfigMap, { name: 'a', namespace })
    const events = await eventsUntil(Meta, { resourceVersion: metadata.resourceVersion }, isDeletion)
    const [last] = events
    expect(last).toMatchObject({ type: 'DELETED', object: { kind: 'ConfigMap', metadata: { name: 'a' } } })
    expect(last).not.toHaveProperty('object.data')
  })

  test('a watch from a compacted resourceVersion fails as Gone', async () => {
    // The server has no history of a new kind.
    const novelties = customResource(client, { kind: 'Novelty' })
    await novelties.install()
    const old = eventsUntil(novelties.kind, { resourceVersion: '1' }, () => true)
    await expect(old).rejects.toSatisfy(isGone)
    await expect(old).rejects.toMatchObject({ status: 410, reason: 'Expired' })
    await novelties.uninstall()
  })

  test("a watch ends with the server's timeout and with its abort signal", async () => {
    const { metadata } = await create('a')
    const { resourceVersion } = metadata
    const events = await Array.fromAsync(
      client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 1, bookmarks: false }),
    )
    // Only the namespace's own ConfigMap, written by its controller, may appear.
    expect(described(events.flat()).filter((event) => !event.endsWith('kube-root-ca.crt'))).toEqual([])

    const controller = new AbortController()
    const watch = client.watch(ConfigMap, {
      namespace,
      labelSelector: SELECTOR,
      resourceVersion,
      signal: controller.signal,
      onOpen: () => controller.abort(new Error('Aborted by the test')),
    })
    await expect(Array.fromAsync(watch)).rejects.toThrow('Aborted by the test')
  })

  test('a watch that receives nothing for its idle timeout fails', async () => {
    const { metadata } = await create('a')
    const { resourceVersion } = metadata
    const quiet = eventsUntil(ConfigMap, { resourceVersion, idleTimeout: 200 }, () => true)
    await expect(quiet).rejects.toMatchObject({ code: 'TENURE_WATCH_QUIET', fate: 'retry' })
  })
})
