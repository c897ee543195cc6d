import { expect, test } from 'vitest'
import { KINDS } from '../testing/catalog.ts'
import { Harness } from '../testing/harness.ts'

const { configMap, pod } = KINDS
const MERGE = 'application/merge-patch+json'

const relabel = (name: string, parity: string) => ({
  name,
  patchType: MERGE,
  body: { metadata: { labels: { parity } } },
})

async function withMaps(count: number): Promise<Harness> {
  const harness = await Harness.start()
  for (let index = 0; index < count; index++) {
    const labels = { parity: index % 2 === 0 ? 'even' : 'odd' }
    await harness.object('create', configMap, { body: { metadata: { name: `m${index}`, labels } } })
  }
  return harness
}

const namesOf = (items: readonly { readonly key: string }[]): readonly string[] =>
  items.map(({ key }) => key.split('/')[1] ?? '')

test('all pages show one snapshot, whatever is written meanwhile', async () => {
  const harness = await withMaps(5)
  const first = await harness.list(configMap, { options: { limit: 2 } })
  expect(first).toMatchObject({ remaining: 3 })
  await harness.call('delete', configMap, { name: 'm4' })
  await harness.call('create', configMap, { body: { metadata: { name: 'm9' } } })
  const second = await harness.list(configMap, { options: { limit: 2, continue: first.continue ?? '' } })
  expect(second).toMatchObject({ remaining: 1, revision: first.revision })
  const third = await harness.list(configMap, { options: { limit: 2, continue: second.continue ?? '' } })
  expect(third).not.toHaveProperty('continue')
  expect([first, second, third].flatMap(({ items }) => namesOf(items))).toEqual(['m0', 'm1', 'm2', 'm3', 'm4'])
})

test('a page of a compacted snapshot gets 410 with a token to continue', async () => {
  const harness = await withMaps(4)
  const { continue: token = '' } = await harness.list(configMap, { options: { limit: 2 } })
  await harness.call('delete', configMap, { name: 'm3' })
  harness.storage.compact(harness.storage.revision)
  const refused: unknown = await harness
    .list(configMap, { options: { limit: 2, continue: token } })
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 410, reason: 'Expired' })
  const { continueToken } = refused as { readonly continueToken: string }
  const rest = await harness.list(configMap, { options: { limit: 2, continue: continueToken } })
  expect(namesOf(rest.items)).toEqual(['m2'])
})

test('a list honours exact, minimum, too large and malformed resourceVersions', async () => {
  const harness = await withMaps(2)
  const then = String(harness.storage.revision)
  await harness.call('delete', configMap, { name: 'm0' })
  const exact = await harness.list(configMap, { options: { resourceVersion: then, resourceVersionMatch: 'Exact' } })
  expect(namesOf(exact.items)).toEqual(['m0', 'm1'])
  const newer = await harness.list(configMap, {
    options: { resourceVersion: then, resourceVersionMatch: 'NotOlderThan' },
  })
  expect(namesOf(newer.items)).toEqual(['m1'])
  expect(await harness.failure('list', configMap, { options: { resourceVersion: '99999' } })).toMatchObject({
    code: 504,
    details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
  })
  expect(await harness.failure('list', configMap, { options: { resourceVersion: 'x' } })).toMatchObject({ code: 400 })
  expect(await harness.failure('list', configMap, { options: { continue: 'abc' } })).toMatchObject({ code: 400 })
})

test('a stale read returns an earlier state', async () => {
  const harness = await withMaps(1)
  const at = harness.storage.revision
  await harness.call('delete', configMap, { name: 'm0' })
  expect(await harness.object('get', configMap, { name: 'm0', at })).toMatchObject({ metadata: { name: 'm0' } })
  expect(await harness.failure('get', configMap, { name: 'm0' })).toMatchObject({ code: 404 })
})

test('a watch sends the current state and then changes, and leaving the selection is a deletion', async () => {
  const harness = await withMaps(2)
  const watched = await harness.watch(configMap, { labelSelector: 'parity=even' })
  expect(watched.lines).toEqual(['ADDED m0'])
  await harness.call('patch', configMap, relabel('m1', 'even'))
  await harness.call('patch', configMap, relabel('m0', 'odd'))
  await harness.call('delete', configMap, { name: 'm0' })
  await harness.call('delete', configMap, { name: 'm1' })
  expect(watched.lines).toEqual(['ADDED m0', 'ADDED m1', 'DELETED m0', 'DELETED m1'])
  const left = watched.items[2]
  expect(left).toMatchObject({
    stored: {
      object: { metadata: { labels: { parity: 'even' }, resourceVersion: String(harness.storage.revision - 2) } },
    },
  })
})

test('a watch resumes from any revision in the history, or gets 410 in the stream', async () => {
  const harness = await withMaps(3)
  const from = harness.storage.revision - 1
  expect((await harness.watch(configMap, { resourceVersion: String(from) })).lines).toEqual(['ADDED m2'])
  harness.storage.compact(harness.storage.revision)
  const gone = await harness.watch(configMap, { resourceVersion: '1' })
  expect(gone.lines).toEqual([expect.stringMatching(/^ERROR too old resource version: 1 \(\d+\)$/)])
  expect(gone.hasEnded).toBe(true)
})

test('a watch marks the end of its initial events and sends bookmarks every minute and at the end', async () => {
  const harness = await withMaps(1)
  const watched = await harness.watch(configMap, {
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: true,
    timeoutSeconds: 90,
  })
  expect(watched.lines).toEqual(['ADDED m0', 'BOOKMARK end of initial'])
  await harness.clock.advance(60_000)
  expect(watched.lines).toHaveLength(3)
  await harness.clock.advance(30_000)
  expect(watched.lines.slice(2)).toEqual(['BOOKMARK', 'BOOKMARK'])
  expect(watched.hasEnded).toBe(true)
  expect(harness.clock.pending).toBe(0)
})

test('a watch is limited to its namespace, ends with its request and leaves nothing behind', async () => {
  const harness = await withMaps(0)
  const watched = await harness.watch(configMap, {}, 'other')
  await harness.call('create', configMap, { body: { metadata: { name: 'a' } } })
  expect(watched.lines).toEqual([])
  harness.abort.abort()
  expect(watched.hasEnded).toBe(true)
  expect(harness.clock.pending).toBe(0)
})

test('contradictory options are refused', async () => {
  const harness = await withMaps(0)
  expect(await harness.failure('watch', pod, { options: { sendInitialEvents: true } })).toMatchObject({
    code: 422,
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  })
  expect(await harness.failure('list', pod, { options: { resourceVersionMatch: 'Exact' } })).toMatchObject({
    code: 422,
  })
})
