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

/** Takes the owner off a child, and may change more of it. */
function disown(kind: typeof Deployment | typeof PersistentVolumeClaim, name: string, more: object = {}): string {
  const live = bench.server.peek<KubeObject>(kind, at(name))
  if (!live) throw new Error(`no ${name}`)
  bench.server.seed<KubeObject>(kind, { ...live, metadata: { ...live.metadata, ownerReferences: [], ...more } })
  return live.metadata.uid
}

describe('a child whose owner was taken off', () => {
  test('is ours again', async () => {
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
    ['of another label', { labels: { 'app.kubernetes.io/managed-by': 'elide-operator' } }],
    ['not applied by us', { managedFields: [] }],
    ['of another owner', { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x', controller: true }] }],
  ])('is left alone if it is %s', async (_what, more) => {
    await running()
    disown(Deployment, 'shop', more)
    await bench.phase('shop', 'Failed')
    expect(bench.read('shop')?.status?.conditions?.[0]?.message).toContain('Deployment default/shop is there already')
    const left = bench.server.peek(Deployment, at('shop'))?.metadata.ownerReferences ?? []
    expect(left.map(({ uid }) => uid)).not.toContain(bench.read('shop')?.metadata.uid)
  })

  test('is left alone if it was left behind by an earlier Application', async () => {
    await running()
    bench.server.unseed(Application, at('shop'))
    disown(Deployment, 'shop')
    await bench.clock.advance(1_000)
    await bench.write('shop', plainSpec)
    await bench.phase('shop', 'Failed')
    expect(bench.server.peek(Deployment, at('shop'))?.metadata.ownerReferences).toEqual([])
  })

  test('is left alone if it is data', async () => {
    await running({ persistence: { size: '1Gi', mountPath: '/data' } })
    disown(PersistentVolumeClaim, 'shop-data')
    await bench.phase('shop', 'Failed')
    expect(bench.server.peek(PersistentVolumeClaim, at('shop-data'))?.metadata.ownerReferences).toEqual([])
  })
})
