import type { Kind, KubeObject, Stored } from '@tenure/kube'
import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { application, stored } from '../../testing/objects.ts'
import { planCleanup } from './cleanup.ts'
import { describeActions } from './describe-actions.ts'

const children = new Map<Kind, readonly Stored<KubeObject>[]>([
  [ConfigMap, [stored({ metadata: { name: 'shop-config' } })]],
  [Deployment, [stored({ metadata: { name: 'shop' } })]],
])
// The children of a kind are of that kind.
const owned = ((kind: Kind) => children.get(kind) ?? []) as Parameters<typeof planCleanup>[0]['owned']

function plan(failures: number, finalizers: readonly string[] = []): readonly string[] {
  const { metadata, ...rest } = application()
  const actions = planCleanup({ object: { ...rest, metadata: { ...metadata, finalizers } }, owned, failures })
  return actions
    .filter((action) => action !== false && action !== null && action !== undefined)
    .map((action) => (action.type === 'event' ? `${action.reason}: ${action.message}` : describeActions([action])))
}

test('the children are removed between the two events', () => {
  expect(plan(0)).toEqual([
    'Cleanup: Removing ConfigMap shop-config, Deployment shop.',
    'ConfigMap shop-config',
    'Deployment shop',
    'Deleted: Cleanup finished; the finalizer is removed.',
  ])
})

test('a retry does not repeat the first event', () => {
  expect(plan(1)).toEqual([
    'ConfigMap shop-config',
    'Deployment shop',
    'Deleted: Cleanup finished; the finalizer is removed.',
  ])
})

test('an orphaning deletion keeps the children', () => {
  expect(plan(0, ['orphan'])).toEqual(['Deleted: Cleanup finished; the finalizer is removed.'])
})
