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
  test('drops managedFields but those of the named managers', () => {
    const none = new ObjectTransform(kind, { keepManagedFieldsOf: [], freeze: false }).take(parsed())
    expect(none.metadata).not.toHaveProperty('managedFields')
    const mine = new ObjectTransform(kind, { keepManagedFieldsOf: ['me'], freeze: false }).take(parsed())
    expect(mine.metadata.managedFields).toEqual([{ manager: 'me' }])
  })

  test('takes what is frozen, and leaves alone what others hold', () => {
    const transform = new ObjectTransform(kind, { keepManagedFieldsOf: [], freeze: false })
    const frozen = deepFreeze(parsed())
    const { managedFields: _, ...metadata } = frozen.metadata
    expect(transform.take(frozen)).toEqual({ ...frozen, metadata })
    const held = parsed()
    const copy = transform.copy(held)
    expect(held).toEqual(parsed())
    expect(copy).toEqual({ ...held, metadata })
    expect(copy.metadata.labels).not.toBe(held.metadata.labels)
  })

  test('cuts a whole object to the metadata form', () => {
    const transform = new ObjectTransform(metadataOf(kind), { keepManagedFieldsOf: [], freeze: true })
    const cut = transform.copy(parsed())
    expect(Object.keys(cut)).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(Object.isFrozen(cut.metadata.labels)).toBe(true)
  })
})
