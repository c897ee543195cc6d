import { defineKind, type KubeObject, metadataOf, type Stored } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { deepFreeze, ObjectTransform } from './transform.ts'

const kind = defineKind({ apiVersion: 'v1', kind: 'ConfigMap' })
const parsed = (): Stored<KubeObject & { data: { a: string } }> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'web' },
    managedFields: [{ manager: 'me' }, { manager: 'you' }],
  },
  data: { a: '1' },
})

describe('ObjectTransform', () => {
  test('only the managedFields of named managers are kept', () => {
    const none = new ObjectTransform(kind, { keepManagedFieldsOf: [], freeze: false }).inPlace(parsed())
    expect(none.metadata).not.toHaveProperty('managedFields')
    const mine = new ObjectTransform(kind, { keepManagedFieldsOf: ['me'], freeze: false }).inPlace(parsed())
    expect(mine.metadata.managedFields).toEqual([{ manager: 'me' }])
  })

  test('frozen objects are copied, and the originals stay unchanged', () => {
    const transform = new ObjectTransform(kind, { keepManagedFieldsOf: [], freeze: false })
    const frozen = deepFreeze(parsed())
    const { managedFields: _, ...metadata } = frozen.metadata
    expect(transform.inPlace(frozen)).toEqual({ ...frozen, metadata })
    const held = parsed()
    const copy = transform.copy(held)
    expect(held).toEqual(parsed())
    expect(copy).toEqual({ ...held, metadata })
    expect(copy.metadata.labels).not.toBe(held.metadata.labels)
  })

  test('a full object is reduced to the metadata form', () => {
    const transform = new ObjectTransform(metadataOf(kind), { keepManagedFieldsOf: [], freeze: true })
    const cut = transform.copy(parsed())
    expect(Object.keys(cut)).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(Object.isFrozen(cut.metadata.labels)).toBe(true)
  })
})
