import { mergePatch, metadataOf } from '@tenure/kube'
import { settle } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { EventModel } from '../../testing/event-model.ts'
import { ConfigMap, map, ref, setUp, streamed } from '../informer.testing.ts'

describe('own writes', () => {
  test('own writes are visible at once, and their watch events change nothing', async () => {
    const t = setUp()
    await t.start()
    t.api.holdWatches()
    const made = await t.client.create(ConfigMap, map('a'))
    expect(t.informer.cache.get(ref('a'))?.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    const patched = await t.client.patch(ConfigMap, ref('a'), mergePatch({ data: { value: '2' } }))
    expect(t.informer.cache.get(ref('a'))?.data).toEqual(patched.data)
    expect(t.informer.unconfirmedWrites).toBe(1)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual(['added default/a@2', 'modified default/a@3'])
    expect(t.informer.unconfirmedWrites).toBe(0)
    await t.expectClean()
  })

  test('own writes during the first list are visible and stay', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    t.api.intercept(async ({ verb }) => {
      if (verb === 'list') await t.client.create(ConfigMap, map('b'))
      return undefined
    })
    t.api.holdWatches()
    await t.start()
    expect(t.informer.synced).toBe(true)
    expect(t.model.log.toSorted()).toEqual(['added default/a@2', 'added default/b@3'])
    t.api.releaseWatches()
    await t.expectClean()
  })

  test('own writes before the initial state are visible and stay', async () => {
    const t = setUp({ informers: streamed })
    t.api.seed(ConfigMap, map('a'))
    t.api.holdWatches()
    await t.start()
    await t.client.create(ConfigMap, map('b'))
    expect(t.informer.synced).toBe(false)
    expect(t.informer.cache.list()).toHaveLength(1)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual(['added default/b@3', 'added default/a@2'])
    await t.expectClean()
  })

  test('marks of writes outside the selection expire', async () => {
    const t = setUp({ selection: { labelSelector: 'app=web' } })
    await t.start()
    await t.client.create(ConfigMap, map('other'))
    const { metadata } = t.api.seed(ConfigMap, map('another'))
    await t.client.delete(ConfigMap, ref('another'), { preconditions: { uid: metadata.uid } })
    expect(t.informer.unconfirmedWrites).toBe(2)
    await t.clock.advance(60_000)
    expect(t.informer.unconfirmedWrites).toBe(1)
    await t.clock.advance(660_000)
    expect(t.informer.unconfirmedWrites).toBe(0)
    t.api.unseed(ConfigMap, ref('other'))
    await t.expectClean()
  })

  test('late events do not undo an own deletion', async () => {
    const t = setUp()
    await t.start()
    t.api.holdWatches()
    const { metadata } = t.api.seed(ConfigMap, map('theirs'))
    t.api.seed(ConfigMap, map('theirs', '2'))
    await t.client.delete(ConfigMap, ref('theirs'), { preconditions: { uid: metadata.uid } })
    t.api.releaseWatches(2)
    await settle()
    expect(t.informer.cache.size).toBe(0)
    expect(t.informer.unconfirmedWrites).toBe(1)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual([])
    await t.expectClean()
  })

  test('a deletion leaves no mark if the watch is faster than the response', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.delayResponses(({ verb }) => (verb === 'delete' ? 1000 : 0))
    const deleting = t.client.delete(ConfigMap, ref('a'))
    await settle()
    expect(t.informer.cache.size).toBe(0)
    await t.clock.advance(1000)
    expect((await deleting).gone).toBe(true)
    expect(t.informer.unconfirmedWrites).toBe(0)
    await t.expectClean()
  })

  test('a deletion does not uncover an earlier object of the same name', async () => {
    const t = setUp()
    await t.start()
    t.api.holdWatches()
    t.api.seed(ConfigMap, map('a', 'theirs'))
    t.api.unseed(ConfigMap, ref('a'))
    const { metadata } = await t.client.create(ConfigMap, map('a', 'ours'))
    await t.client.delete(ConfigMap, ref('a'), { preconditions: { uid: metadata.uid } })
    t.api.releaseWatches(1)
    await settle()
    expect(t.informer.cache.size).toBe(0)
    t.api.releaseWatches()
    await t.expectClean()
    expect(t.model.log).toEqual(['added default/a@4', 'deleted default/a@4'])
  })

  test('removing the last finalizer removes the object', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, { ...map('a'), metadata: { ...map('a').metadata, finalizers: ['x/y'] } })
    await t.start()
    t.api.holdWatches()
    const result = await t.client.delete(ConfigMap, ref('a'))
    expect(result.gone).toBe(false)
    expect(t.informer.cache.get(ref('a'))?.metadata.deletionTimestamp).toBeDefined()
    await t.client.patch(ConfigMap, ref('a'), mergePatch({ metadata: { finalizers: null } }))
    expect(t.informer.cache.size).toBe(0)
    t.api.releaseWatches()
    await t.expectClean()
    expect(t.model.log).toEqual(['added default/a@2', 'modified default/a@3', 'deleted default/a@3'])
  })

  test('an own write does not restore an object that was deleted meanwhile', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.delayResponses(({ verb }) => (verb === 'patch' ? 1000 : 0))
    const patching = t.client.patch(ConfigMap, ref('a'), mergePatch({ data: { value: '2' } }))
    await settle()
    t.api.unseed(ConfigMap, ref('a'))
    await t.clock.advance(1000)
    expect((await patching).metadata.resourceVersion).toBe('3')
    expect(t.informer.cache.size).toBe(0)
    await t.expectClean()
  })

  test('own writes survive an older list', async () => {
    const t = setUp({ server: { initialEvents: 'refuse' }, informers: { ...streamed, pageSize: 1 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    await t.start()
    t.api.dropWatches()
    t.api.compact()
    let wrote = false
    t.api.intercept(async ({ query }) => {
      if (!query['continue'] || wrote) return undefined
      wrote = true
      // Between two pages of an older snapshot.
      await t.client.patch(ConfigMap, ref('a'), mergePatch({ data: { value: 'mine' } }))
      await t.client.delete(ConfigMap, ref('b'))
      await t.client.create(ConfigMap, map('d'))
      t.api.holdWatches()
      return undefined
    })
    t.api.injectWatchLine({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
    t.api.seed(ConfigMap, map('c', '2'))
    t.api.compact()
    await t.clock.advanceUntil(() => wrote)
    await settle()
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('mine')
    expect(t.informer.cache.get(ref('b'))).toBeUndefined()
    expect(t.informer.cache.get(ref('c'))?.data?.['value']).toBe('2')
    expect(t.informer.cache.get(ref('d'))).toBeDefined()
    t.api.releaseWatches()
    await t.expectClean()
  })

  test('a write that leaves the selection removes the object, and late events do not restore it', async () => {
    const t = setUp({ selection: { labelSelector: 'app=web' } })
    await t.start()
    t.api.holdWatches()
    t.api.seed(ConfigMap, map('a', '1', { app: 'web' }))
    t.api.seed(ConfigMap, map('a', '2', { app: 'web' }))
    await t.client.patch(ConfigMap, ref('a'), mergePatch({ metadata: { labels: { app: 'db' } } }))
    t.api.releaseWatches(2)
    await settle()
    expect(t.informer.cache.size).toBe(0)
    await t.client.patch(ConfigMap, ref('a'), mergePatch({ metadata: { labels: { app: 'web' } } }))
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('2')
    t.api.releaseWatches()
    await t.expectClean()
    expect(t.model.log).toEqual(['added default/a@5'])
  })

  test('a deletion is not undone by a list taken while the object was not selected', async () => {
    const t = setUp({ server: { expiry: 'status' }, selection: { labelSelector: 'app=web' } })
    await t.start()
    const { metadata } = await t.client.create(ConfigMap, map('a', '1', { app: 'web' }))
    await settle()
    t.api.holdWatches()
    t.api.delayResponses(({ verb }) => (verb === 'list' ? 300 : 0))
    t.api.seed(ConfigMap, map('a', '2', { app: 'db' }))
    t.api.compact()
    t.api.dropWatches()
    t.api.clearRequests()
    await t.clock.advanceUntil(() => t.verbs().includes('list'))
    // The list without the object is on its way. Another writer restores the object, and this process deletes it.
    t.api.seed(ConfigMap, map('a', '3', { app: 'web' }))
    await t.client.delete(ConfigMap, ref('a'), { preconditions: { uid: metadata.uid } })
    await t.clock.advance(1000)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual(['added default/a@2', 'deleted default/a@2'])
    await t.clock.advance(660_000)
    await t.expectClean()
  })

  test('a metadata write updates the metadata of a full object until the watch delivers the rest', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a', '1'))
    await t.start()
    t.api.holdWatches()
    const patch = mergePatch({ metadata: { annotations: { note: 'x' } }, data: { value: '2' } })
    await t.client.patch(metadataOf(ConfigMap), ref('a'), patch)
    expect(t.informer.cache.get(ref('a'))).toMatchObject({
      metadata: { annotations: { note: 'x' }, resourceVersion: '3' },
      data: { value: '1' },
    })
    t.api.releaseWatches()
    await settle()
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('2')
    await t.expectClean()
  })

  test.each([ConfigMap, metadataOf(ConfigMap)])(
    'after a metadata write the watch decides what is selected by other fields ($form)',
    async (kind) => {
      const t = setUp()
      const informer = t.informers.informer(kind, { fieldSelector: 'metadata.namespace=default,data.value=1' })
      const model = new EventModel(informer)
      for (const name of ['stays', 'leaves']) t.api.seed(ConfigMap, map(name, '1'))
      t.api.seed(ConfigMap, map('comes', '2'))
      await t.start()
      t.api.holdWatches()
      const values = { stays: '1', leaves: '2', comes: '1' }
      for (const [name, value] of Object.entries(values)) {
        const annotations = { note: 'x' }
        await t.client.patch(
          metadataOf(ConfigMap),
          ref(name),
          mergePatch({ metadata: { annotations }, data: { value } }),
        )
        // Nothing older than the write.
        expect(informer.cache.get(ref(name))?.metadata.annotations ?? annotations).toEqual(annotations)
      }
      t.api.releaseWatches()
      await settle()
      expect(informer.cache.list().map(({ metadata }) => metadata.name)).toEqual(['stays', 'comes'])
      expect([...model.objects.keys()]).toEqual(['default/stays', 'default/comes'])
      expect(model.problems).toEqual([])
      await t.expectClean()
    },
  )

  test('own writes reach every informer of the resource in its form', async () => {
    const t = setUp()
    const metadata = t.informers.informer(metadataOf(ConfigMap))
    const elsewhere = t.informers.informer(ConfigMap, { namespace: 'elsewhere' })
    await t.start()
    t.api.holdWatches()
    await t.client.create(ConfigMap, map('a'))
    const cached = metadata.cache.get(ref('a'))
    expect(cached).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    expect(cached).not.toHaveProperty('data')
    expect(elsewhere.cache.size).toBe(0)
    t.api.releaseWatches()
    await t.expectClean()
  })
})
