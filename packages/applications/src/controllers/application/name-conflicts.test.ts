import type { KubeObject } from '@tenure/kube'
import { Deployment, PersistentVolumeClaim } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Application } from '../../api/index.ts'
import { plainSpec } from '../../testing/objects.ts'
import { at, OperatorFixture } from '../../testing/operator-fixture.ts'

let fixture: OperatorFixture
beforeEach(async () => {
  fixture = await OperatorFixture.create()
  await fixture.start()
})
afterEach(async () => await fixture.close())

async function running(more: object = {}): Promise<void> {
  await fixture.write('shop', { ...plainSpec, ...more })
  await fixture.settle()
  fixture.rollOut('shop')
  await fixture.phase('shop', 'Running')
}

/** Removes the owner reference of a child, and applies further changes. */
function disown(kind: typeof Deployment | typeof PersistentVolumeClaim, name: string, more: object = {}): string {
  const live = fixture.server.peek<KubeObject>(kind, at(name))
  if (!live) throw new Error(`no ${name}`)
  fixture.server.seed<KubeObject>(kind, { ...live, metadata: { ...live.metadata, ownerReferences: [], ...more } })
  return live.metadata.uid
}

describe('a child without its owner reference', () => {
  test('a child of this Application is adopted', async () => {
    await running()
    const uid = disown(Deployment, 'shop')
    await fixture.settle()
    expect(fixture.server.peek(Deployment, at('shop'))?.metadata).toMatchObject({
      uid,
      ownerReferences: [{ uid: fixture.read('shop')?.metadata.uid, controller: true }],
    })
    expect(fixture.read('shop')?.status?.phase).toBe('Running')
  })

  test.each([
    ['lacks a label', { labels: { 'app.kubernetes.io/managed-by': 'elide-operator' } }],
    ['was not applied by the operator', { managedFields: [] }],
    [
      'has another owner',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x', controller: true }] },
    ],
  ])('a child is left alone if it %s', async (_what, more) => {
    await running()
    disown(Deployment, 'shop', more)
    await fixture.phase('shop', 'Failed')
    expect(fixture.read('shop')?.status?.conditions?.[0]?.message).toContain('Deployment default/shop already exists')
    const left = fixture.server.peek(Deployment, at('shop'))?.metadata.ownerReferences ?? []
    expect(left.map(({ uid }) => uid)).not.toContain(fixture.read('shop')?.metadata.uid)
  })

  test('a child that an earlier Application orphaned is left alone', async () => {
    await running()
    fixture.server.unseed(Application, at('shop'))
    disown(Deployment, 'shop')
    await fixture.clock.advance(1_000)
    await fixture.write('shop', plainSpec)
    await fixture.phase('shop', 'Failed')
    expect(fixture.server.peek(Deployment, at('shop'))?.metadata.ownerReferences).toEqual([])
  })

  test('a volume claim is left alone', async () => {
    await running({ persistence: { size: '1Gi', mountPath: '/data' } })
    disown(PersistentVolumeClaim, 'shop-data')
    await fixture.phase('shop', 'Failed')
    expect(fixture.server.peek(PersistentVolumeClaim, at('shop-data'))?.metadata.ownerReferences).toEqual([])
  })
})
