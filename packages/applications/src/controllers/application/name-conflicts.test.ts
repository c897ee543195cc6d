import type { KubeObject } from '@tenure/kube'
import { Deployment, PersistentVolumeClaim } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Application } from '../../api/index.ts'
import { plainSpec } from '../../testing/objects.ts'
import { at, Bench } from '../../testing/bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = new Bench()
  await bench.start()
})
afterEach(async () => await bench.stop())

async function running(more: object = {}): Promise<void> {
  await bench.write('shop', { ...plainSpec, ...more })
  await bench.settle()
  bench.rollOut('shop')
  await bench.phase('shop', 'Running')
}

/** Removes the owner reference of a child, and applies further changes. */
function disown(kind: typeof Deployment | typeof PersistentVolumeClaim, name: string, more: object = {}): string {
  const live = bench.server.peek<KubeObject>(kind, at(name))
  if (!live) throw new Error(`no ${name}`)
  bench.server.seed<KubeObject>(kind, { ...live, metadata: { ...live.metadata, ownerReferences: [], ...more } })
  return live.metadata.uid
}

describe('a child without its owner reference', () => {
  test('a child of this Application is adopted', async () => {
    await running()
    const uid = disown(Deployment, 'shop')
    await bench.settle()
    expect(bench.server.peek(Deployment, at('shop'))?.metadata).toMatchObject({
      uid,
      ownerReferences: [{ uid: bench.read('shop')?.metadata.uid, controller: true }],
    })
    expect(bench.read('shop')?.status?.phase).toBe('Running')
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
    await bench.phase('shop', 'Failed')
    expect(bench.read('shop')?.status?.conditions?.[0]?.message).toContain('Deployment default/shop already exists')
    const left = bench.server.peek(Deployment, at('shop'))?.metadata.ownerReferences ?? []
    expect(left.map(({ uid }) => uid)).not.toContain(bench.read('shop')?.metadata.uid)
  })

  test('a child that an earlier Application orphaned is left alone', async () => {
    await running()
    bench.server.unseed(Application, at('shop'))
    disown(Deployment, 'shop')
    await bench.clock.advance(1_000)
    await bench.write('shop', plainSpec)
    await bench.phase('shop', 'Failed')
    expect(bench.server.peek(Deployment, at('shop'))?.metadata.ownerReferences).toEqual([])
  })

  test('a volume claim is left alone', async () => {
    await running({ persistence: { size: '1Gi', mountPath: '/data' } })
    disown(PersistentVolumeClaim, 'shop-data')
    await bench.phase('shop', 'Failed')
    expect(bench.server.peek(PersistentVolumeClaim, at('shop-data'))?.metadata.ownerReferences).toEqual([])
  })
})
