import { metadataOf, type PartialObjectMetadata, type Stored } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import type { InformerEvent } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { SEED_FAMILY } from '../../api/annotations.ts'
import { type LeaseCache, LeaseCaches } from '../../controllers/lease/lease-caches.ts'
import { leasesView } from './leases-view.ts'

type Handler = (event: InformerEvent<PartialObjectMetadata>) => void

/** A cache that counts how many of its objects are read. */
class CountingCache {
  reads = 0
  readonly handlers = new Set<Handler>()
  readonly #objects: readonly Stored<PartialObjectMetadata>[]

  constructor(count: number) {
    this.#objects = Array.from({ length: count }, (_, index) => this.#object(`m${index}`))
  }

  get informer(): LeaseCache {
    const objects = this.#objects
    const fake: Partial<LeaseCache> = {
      kind: metadataOf(ConfigMap),
      cache: {
        size: objects.length,
        list: () => objects,
        get: ({ name }) => objects[Number(name.slice(1))],
        getByKey: () => undefined,
        byIndex: () => [],
      },
      subscribe: (handler, { replay = true } = {}) => {
        if (replay) for (const object of objects) handler({ type: 'added', object, initial: true })
        this.handlers.add(handler)
        return () => void this.handlers.delete(handler)
      },
    }
    return fake as LeaseCache
  }

  #object(name: string): Stored<PartialObjectMetadata> {
    const metadata = {
      name,
      namespace: 'default',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { [`${SEED_FAMILY.prefix}ttl`]: '1h' },
    }
    const read = (): typeof metadata => {
      this.reads++
      return metadata
    }
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      get metadata() {
        return read()
      },
    }
  }
}

function setUp(count: number) {
  const caches = new LeaseCaches()
  const counting = new CountingCache(count)
  const { informer } = counting
  return { caches, counting, informer, view: leasesView(caches, [SEED_FAMILY]) }
}

test('a row of 30,000 is made when it is read, and a listener costs nothing before the first change', () => {
  const { caches, counting, informer, view } = setUp(30_000)
  caches.add(informer)
  const told: string[] = []
  const end = view.subscribe((id) => told.push(id))
  expect([counting.reads, told.length]).toEqual([0, 0])
  const [first] = view.rows()
  expect(first?.name).toBe('m0')
  expect(view.row('configmaps/default/m29999')?.name).toBe('m29999')
  expect(counting.reads).toBeLessThan(20)
  expect([...view.rows()]).toHaveLength(30_000)
  end()
  expect(counting.handlers.size).toBe(0)
})

test('rows of a cache that starts or ends are announced, and a cache that was replaced stays', () => {
  const { caches, counting, informer, view } = setUp(2)
  const told: string[] = []
  const end = view.subscribe((id) => told.push(id))
  const ids = ['configmaps/default/m0', 'configmaps/default/m1']
  const remove = caches.add(informer)
  expect(told).toEqual(ids)
  const later = new CountingCache(1)
  const removeLater = caches.add(later.informer)
  remove()
  expect([...view.rows()]).toHaveLength(1)
  told.length = 0
  removeLater()
  expect(told).toEqual(['configmaps/default/m0'])
  expect([...view.rows()]).toEqual([])
  end()
  expect([counting.handlers.size, later.handlers.size]).toEqual([0, 0])
})
