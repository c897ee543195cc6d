import type { KubeObject } from '@tenure/kube'
import { expect, test } from 'vitest'
import { childrenOf, nodeOf, type ObjectNode } from './node.ts'
import { whyNotReady } from './why.ts'

const object = (kind: string, more: object): KubeObject => ({
  apiVersion: kind === 'Application' ? 'cloudnative.elide.dev/v1' : kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  metadata: { name: 'web', generation: 1 },
  ...more,
})
const deployment = object('Deployment', { spec: { replicas: 2 }, status: { readyReplicas: 1, observedGeneration: 1 } })
const pod: ObjectNode = {
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'web-1',
  uid: 'p',
  ready: false,
  message: 'ErrImagePull',
}
const node = (uid: string): ObjectNode => ({ apiVersion: 'v1', kind: 'Pod', name: uid, uid })

test('an object that is ready needs no reason', () => {
  const ready = object('Deployment', { spec: { replicas: 1 }, status: { readyReplicas: 1, observedGeneration: 1 } })
  expect(whyNotReady(ready, [pod])).toBeUndefined()
})

test('the deepest object that is not ready says why', () => {
  const replicaSet = { ...pod, kind: 'ReplicaSet', message: 'replicaset not ready (1/2)', children: [pod] }
  expect(whyNotReady(deployment, [replicaSet])).toBe('Pod web-1: ErrImagePull.')
  expect(whyNotReady(deployment, [])).toBe('deployment not ready (1/2).')
})

test('a failed condition says why, with its reason', () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'ImagePullBackOff', message: 'no such image.' }]
  expect(whyNotReady(object('Application', { status: { conditions } }), [])).toBe('ImagePullBackOff: no such image.')
  const degraded = [{ type: 'Degraded', status: 'True' }]
  expect(whyNotReady(object('Application', { status: { conditions: degraded } }), [])).toBe('Degraded is True.')
  expect(whyNotReady(object('Application', { status: { phase: 'Failed', message: 'boom' } }), [])).toBe('boom.')
})

test('an object that is being deleted names its finalizers', () => {
  const leaving = { name: 'web', deletionTimestamp: '2026-01-01T00:00:00Z' }
  expect(whyNotReady(object('Deployment', { metadata: leaving }), [])).toBe('It is being deleted.')
  const waiting = { ...leaving, finalizers: ['a/b', 'c/d'] }
  expect(whyNotReady(object('Deployment', { metadata: waiting }), [])).toBe(
    'It is being deleted and waits for the finalizers a/b, c/d.',
  )
})

test('children are a tree by owner, and owners in a circle end', () => {
  const tree = childrenOf('a', [
    { node: node('b'), owners: ['a'] },
    { node: node('c'), owners: ['b'] },
    { node: node('d'), owners: ['x'] },
  ])
  expect(tree).toEqual([{ ...node('b'), children: [node('c')] }])
  const circle = childrenOf('a', [
    { node: node('b'), owners: ['a', 'c'] },
    { node: node('c'), owners: ['b'] },
  ])
  expect(JSON.stringify(circle).length).toBeLessThan(1_000)
})

test('a node has a state only if the status is known', () => {
  const found = { ...deployment, apiVersion: 'apps/v1', kind: 'Deployment' }
  expect(nodeOf(found, true)).toMatchObject({ ready: false, message: 'deployment not ready (1/2)' })
  expect(nodeOf(found, false)).not.toHaveProperty('ready')
})
