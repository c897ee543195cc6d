import { defineKind, type KubeObject, metadataOf, type Stored } from '@tenure/kube'
import { describe, expect, it } from 'vitest'
import { deepFreeze, Intake } from './transform.ts'

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

describe('Intake', () => {
  it('drops managedFields but those of the named managers', () => {
    const none = new Intake(kind, { keepManagedFieldsOf: [], freeze: false }).take(parsed())
    expect(none.metadata).not.toHaveProperty('managedFields')
    const mine = new Intake(kind, { keepManagedFieldsOf: ['me'], freeze: false }).take(parsed())
    expect(mine.metadata.managedFields).toEqual([{ manager: 'me' }])
  })

  it('takes what is frozen, and leaves alone what others hold', () => {
    const intake = new Intake(kind, { keepManagedFieldsOf: [], freeze: false })
    const frozen = deepFreeze(parsed())
    const { managedFields: _, ...metadata } = frozen.metadata
    expect(intake.take(frozen)).toEqual({ ...frozen, metadata })
    const held = parsed()
    const copy = intake.copy(held)
    expect(held).toEqual(parsed())
    expect(copy).toEqual({ ...held, metadata })
    expect(copy.metadata.labels).not.toBe(held.metadata.labels)
  })

  it('cuts a whole object to the metadata form', () => {
    const intake = new Intake(metadataOf(kind), { keepManagedFieldsOf: [], freeze: true })
    const cut = intake.copy(parsed())
    expect(Object.keys(cut)).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(Object.isFrozen(cut.metadata.labels)).toBe(true)
  })
})
