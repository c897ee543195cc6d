/** Tests concurrent writers on a real API server that each read their own writes from the cache at once. */
import type { ObjectRef, Stored } from '@tenure/kube'
import { compareResourceVersions, isConflict, isNotFound, keyOf, mergePatch, metadataOf } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { seededRandom } from '@tenure/kube/testing'
import { type Cache, type Informer, SharedInformers } from '@tenure/runtime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { WatchingInformer } from '../../packages/runtime/src/informer/informer.ts'
import { EventModel, versionsOf } from '../../packages/runtime/src/testing/event-model.ts'
import { type Connected, connect } from './support/connect.ts'
import { createNamespace } from './support/namespace.ts'
import { until } from './support/until.ts'

const WRITERS = 16
const OPERATIONS_EACH = 40

let connection: Connected
let client: Connected['client']

beforeAll(async () => {
  connection = await connect(workerKubeconfig())
  client = connection.client
})

afterAll(() => connection.close())

let namespace: string
let informers: SharedInformers
let informer: Informer<ConfigMap>
let cache: Cache<ConfigMap>
let model: EventModel<ConfigMap>

beforeEach(async () => {
  const home = await createNamespace(client, 'own-writes')
  namespace = home.name
  const abort = new AbortController()
  informers = new SharedInformers({ api: client, freeze: true })
  informer = informers.informer(ConfigMap, { namespace })
  cache = informer.cache
  model = new EventModel(informer)
  informers.start(abort.signal)
  await informers.whenSynced()
  return async () => {
    model.unsubscribe()
    abort.abort()
    await informers.whenStopped()
    await home.remove()
  }
})

/** At the end cache and server agree, and no write is still tracked. */
async function expectSettled(): Promise<void> {
  const { items } = await client.list(ConfigMap, { namespace })
  await until(
    'the watch has brought every write',
    () => informer instanceof WatchingInformer && informer.unconfirmedWrites === 0,
  )
  expect(versionsOf(cache.list())).toEqual(versionsOf(items))
  expect(versionsOf(model.objects.values())).toEqual(versionsOf(items))
  expect(model.problems).toEqual([])
}

describe('the cache', () => {
  test('the cache shows each of 16 writers its own write at once and nothing older afterwards', async () => {
    /** The expected content: only its writer changes an entry. `undefined` means absent. */
    const truth = new Map<string, Stored<ConfigMap> | undefined>()
    const wrong: string[] = []
    const check = (key: string, when: string): void => {
      const shown = cache.getByKey(key)?.metadata.resourceVersion
      const expected = truth.get(key)?.metadata.resourceVersion
      if (shown !== expected) wrong.push(`${key} ${when}: ${shown}, not ${expected}`)
    }
    // The client updates the cache before the call returns, so events of a write arrive during its call.
    const busy = new Set<string>()
    const end = informer.subscribe(({ object }) => {
      const key = keyOf(object.metadata)
      if (truth.has(key) && !busy.has(key)) check(key, 'when an event came')
    })
    let operations = 0
    const write = async (ref: ObjectRef, call: () => Promise<Stored<ConfigMap> | undefined>): Promise<void> => {
      const key = keyOf(ref)
      busy.add(key)
      truth.set(key, await call())
      busy.delete(key)
      operations++
      check(key, 'right after its write')
    }

    const writer = async (number: number): Promise<void> => {
      const random = seededRandom(number + 1)
      for (let turn = 0; turn < OPERATIONS_EACH; turn++) {
        const ref = { name: `writer-${number}-${Math.floor(random.fraction() * 2)}`, namespace }
        const known = truth.get(keyOf(ref))
        const data = { turn: String(turn) }
        if (!known) await write(ref, () => client.create(ConfigMap, { metadata: ref, data }))
        else if (random.fraction() < 0.4) {
          await write(ref, async () => {
            const deleted = await client.delete(ConfigMap, ref, { preconditions: { uid: known.metadata.uid } })
            if (!deleted.gone) wrong.push(`${keyOf(ref)} is not gone`)
            return undefined
          })
        } else if (random.fraction() < 0.5) {
          await write(ref, () => client.patch(ConfigMap, ref, mergePatch({ data })))
        } else await write(ref, () => client.apply(ConfigMap, { metadata: ref, data }, { force: true }))
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)))
    end()
    expect(operations).toBe(WRITERS * OPERATIONS_EACH)
    expect(wrong).toEqual([])
    await expectSettled()
  })

  test('the cache never shows 16 writers of the same objects less than their own last write', async () => {
    const wrong: string[] = []
    const refs = ['shared-0', 'shared-1', 'shared-2'].map((name) => ({ name, namespace }))
    let operations = 0
    const gone = new Set<string>()
    const end = informer.subscribe((event) => {
      if (event.type !== 'deleted' && gone.has(event.object.metadata.uid)) {
        wrong.push(`${event.type} ${event.object.metadata.uid} after its deletion was answered`)
      }
    })
    const atLeast = (written: Stored<ConfigMap>): void => {
      const shown = cache.get(written.metadata)
      operations++
      // Another writer may have deleted it since; then it is absent, or the object that exists is newer.
      if (!shown) return
      if (compareResourceVersions(shown.metadata.resourceVersion, written.metadata.resourceVersion) < 0) {
        wrong.push(
          `${keyOf(written.metadata)}: ${shown.metadata.resourceVersion} after ${written.metadata.resourceVersion}`,
        )
      }
    }
    const writer = async (number: number): Promise<void> => {
      const random = seededRandom(number + 100)
      for (let turn = 0; turn < OPERATIONS_EACH; turn++) {
        const ref = refs[Math.floor(random.fraction() * refs.length)] ?? { name: 'shared-0', namespace }
        const data = { [`writer-${number}`]: String(turn) }
        const known = cache.get(ref)
        try {
          if (!known) atLeast(await client.create(ConfigMap, { metadata: ref, data }))
          else if (random.fraction() < 0.2) {
            const { uid } = known.metadata
            await client.delete(ConfigMap, ref, { preconditions: { uid } })
            gone.add(uid)
            operations++
            if (cache.get(ref)?.metadata.uid === uid) wrong.push(`${keyOf(ref)}: ${uid} is still there`)
          } else atLeast(await client.patch(ConfigMap, ref, mergePatch({ data })))
        } catch (error) {
          // Another writer was faster.
          const lost = isNotFound(error) || isConflict(error) || String(error).includes('already exists')
          if (!lost) throw error
        }
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)))
    end()
    expect(operations).toBeGreaterThan(200)
    expect(wrong).toEqual([])
    await expectSettled()
  })

  test('the cache merges metadata writes and shows a deletion that finalizers delay', async () => {
    const ref = { name: 'held', namespace }
    const finalizers = ['tenure.test/held']
    await client.create(ConfigMap, { metadata: { ...ref, finalizers }, data: { a: '1' } })
    const Meta = metadataOf(ConfigMap)
    const labelled = await client.patch(Meta, ref, mergePatch({ metadata: { labels: { x: 'y' } } }))
    expect(cache.get(ref)).toMatchObject({
      data: { a: '1' },
      metadata: { labels: { x: 'y' }, resourceVersion: labelled.metadata.resourceVersion },
    })
    const deleted = await client.delete(ConfigMap, ref)
    expect(deleted.gone).toBe(false)
    expect(cache.get(ref)?.metadata.deletionTimestamp).toBeDefined()
    await client.patch(ConfigMap, ref, mergePatch({ metadata: { finalizers: null } }))
    expect(cache.get(ref)).toBeUndefined()
    await expectSettled()
  })
})
