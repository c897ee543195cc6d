import type { KubeObject, Stored } from '@tenure/kube'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IndexTable } from './index-table.ts'
import { ObjectStore } from './object-store.ts'
import { OWNER_UID_INDEX } from '../types.ts'

const unexpected = (index: string, error: unknown): void => {
  throw new Error(`${index} failed`, { cause: error })
}

function object(namespace: string, name: string, owners: readonly string[] = [], color = ''): Stored<KubeObject> {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      ...(namespace && { namespace }),
      uid: `${namespace}-${name}`,
      resourceVersion: '1',
      creationTimestamp: '',
      ...(color && { labels: { color } }),
      ownerReferences: owners.map((uid) => ({ apiVersion: 'v1', kind: 'X', name: uid, uid })),
    },
  }
}

const colors = ({ metadata }: Stored<KubeObject>): string[] => Object.values(metadata.labels ?? {})

describe('ObjectStore', () => {
  test('objects of either scope are found by key, namespace and owner', () => {
    const store = new ObjectStore<KubeObject>(unexpected)
    const a = object('one', 'a', ['o1', 'o2'])
    const b = object('two', 'a', ['o2'])
    const c = object('', 'c')
    for (const each of [a, b, c]) store.set(each)
    expect(store.getByKey('one/a')).toBe(a)
    expect(store.get({ name: 'c' })).toBe(c)
    expect(store.getByKey('c')).toBe(c)
    expect(store.getByKey('two/c')).toBeUndefined()
    expect(store.list('two')).toEqual([b])
    expect(store.list()).toHaveLength(3)
    expect(store.byIndex(OWNER_UID_INDEX, 'o2')).toEqual([a, b])
    expect(store.byIndex(OWNER_UID_INDEX, 'unknown')).toEqual([])
  })

  test('a new index covers existing objects, and its name is unique', () => {
    const store = new ObjectStore<KubeObject>(unexpected)
    store.set(object('one', 'a', [], 'red'))
    expect(() => store.byIndex('color', 'red')).toThrow(expect.objectContaining({ code: 'TENURE_INDEX_UNKNOWN' }))
    store.addIndex('color', colors)
    store.addIndex('color', colors)
    expect(store.byIndex('color', 'red')).toHaveLength(1)
    expect(() => store.addIndex('color', () => [])).toThrow(expect.objectContaining({ code: 'TENURE_INDEX_TAKEN' }))
  })

  test('an index function that throws or returns no list is reported', () => {
    const failures: unknown[] = []
    const store = new ObjectStore<KubeObject>((index) => failures.push(index))
    store.addIndex('bad', () => {
      throw new Error('bad')
    })
    // Possible in programs without types.
    store.addIndex('none', () => undefined as unknown as string[])
    store.set(object('one', 'a'))
    expect(store.size).toBe(1)
    store.remove(object('one', 'a'))
    expect(store.size).toBe(0)
    expect(failures).toEqual(['bad', 'none', 'bad', 'none'])
  })

  test('the store agrees with a plain list after any changes, and its indexes leave nothing behind', () => {
    const change = fc.record({
      remove: fc.boolean(),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      namespace: fc.constantFrom('one', 'two'),
      owners: fc.subarray(['o1', 'o2', 'o3']),
      color: fc.constantFrom('', 'red', 'blue'),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const store = new ObjectStore<KubeObject>(unexpected)
        store.addIndex('color', colors)
        const table = new IndexTable<Stored<KubeObject>>(colors)
        const plain = new Map<string, Stored<KubeObject>>()
        for (const each of changes) {
          const next = object(each.namespace, each.name, each.owners, each.color)
          const before = plain.get(next.metadata.uid)
          if (before) table.remove(before)
          if (each.remove) {
            store.remove(next)
            plain.delete(next.metadata.uid)
          } else {
            store.set(next)
            table.add(next)
            plain.set(next.metadata.uid, next)
          }
        }
        const all = [...plain.values()]
        expect(store.size).toBe(all.length)
        expect(new Set(store.list())).toEqual(new Set(all))
        expect(new Set(store.byIndex('color', 'red'))).toEqual(new Set(all.filter((o) => colors(o).includes('red'))))
        const owned = all.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === 'o1'))
        expect(new Set(store.byIndex(OWNER_UID_INDEX, 'o1'))).toEqual(new Set(owned))
        expect(table.size).toBe(new Set(all.flatMap(colors)).size)
      }),
    )
  })
})
