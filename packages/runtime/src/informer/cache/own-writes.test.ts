import { mergePatch, metadataOf } from '@tenure/kube'
import { settle } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { EventModel } from '../../testing/event-model.ts'
import { ConfigMap, map, ref, setUp, streamed } from '../informer.testing.ts'

describe('our own writes', () => {
  test('are shown at once, and their echo is not news', async () => {
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

  test('made while the first list is on its way are shown too, and stay', async () => {
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

  test('made before the first state is there are shown too, and stay', async () => {
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

  test('to objects outside the selection leave marks that time takes away', async () => {
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

  test('that delete are not undone by late events', async () => {
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

  test('that delete leave no mark when the watch is faster than the answer', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.delayAnswers(({ verb }) => (verb === 'delete' ? 1000 : 0))
    const deleting = t.client.delete(ConfigMap, ref('a'))
    await settle()
    expect(t.informer.cache.size).toBe(0)
    await t.clock.advance(1000)
    expect((await deleting).gone).toBe(true)
    expect(t.informer.unconfirmedWrites).toBe(0)
    await t.expectClean()
  })

  test('that delete do not uncover an earlier object of the same name', async () => {
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

  test('that remove the last finalizer remove the object', async () => {
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

  test('do not bring back what somebody else deleted meanwhile', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.delayAnswers(({ verb }) => (verb === 'patch' ? 1000 : 0))
    const patching = t.client.patch(ConfigMap, ref('a'), mergePatch({ data: { value: '2' } }))
    await settle()
    t.api.unseed(ConfigMap, ref('a'))
    await t.clock.advance(1000)
    expect((await patching).metadata.resourceVersion).toBe('3')
    expect(t.informer.cache.size).toBe(0)
    await t.expectClean()
  })

  test('are kept through a list from before them', async () => {
    const t = setUp({ server: { initialEvents: 'refuse' }, informers: { ...streamed, pageSize: 1 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    await t.start()
    t.api.dropWatches()
    t.api.compact()
    let wrote = false
    t.api.intercept(async ({ query }) => {
      if (!query['continue'] || wrote) return undefined
      wrote = true
      // Between two pages of a snapshot taken before.
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

  test('that leave the selection take the object out, and late events do not bring it back', async () => {
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

  test('that delete are not undone after a list that lacks the object because it had left the selection', async () => {
    const t = setUp({ server: { expiry: 'status' }, selection: { labelSelector: 'app=web' } })
    await t.start()
    const { metadata } = await t.client.create(ConfigMap, map('a', '1', { app: 'web' }))
    await settle()
    t.api.holdWatches()
    t.api.delayAnswers(({ verb }) => (verb === 'list' ? 300 : 0))
    t.api.seed(ConfigMap, map('a', '2', { app: 'db' }))
    t.api.compact()
    t.api.dropWatches()
    t.api.clearRequests()
    await t.clock.advanceUntil(() => t.verbs().includes('list'))
    // The list is on its way, without it. Somebody brings it back, and we delete it.
    t.api.seed(ConfigMap, map('a', '3', { app: 'web' }))
    await t.client.delete(ConfigMap, ref('a'), { preconditions: { uid: metadata.uid } })
    await t.clock.advance(1000)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual(['added default/a@2', 'deleted default/a@2'])
    await t.clock.advance(660_000)
    await t.expectClean()
  })

  test('in metadata form change the metadata of a full object until the watch brings the rest', async () => {
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
    'in metadata form leave it to the watch what is selected by more than metadata ($form)',
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
        // Nothing from before the write.
        expect(informer.cache.get(ref(name))?.metadata.annotations ?? annotations).toEqual(annotations)
      }
      t.api.releaseWatches()
      await settle()
      expect(informer.cache.list().map(({ metadata }) => metadata.name)).toEqual(['stays', 'comes'])
      expect([...model.objects.keys()]).toEqual(['default/stays', 'default/comes'])
      expect(model.complaints).toEqual([])
      await t.expectClean()
    },
  )

  test('reach every informer of the resource, in its own form', async () => {
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
