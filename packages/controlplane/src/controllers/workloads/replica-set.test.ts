import { mergePatch } from '@tenure/kube'
import { DaemonSet, Node, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SIMULATE } from '../nodes/simulation.ts'
import { template, ControlPlaneFixture } from '../fixture.testing.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start({ count: 2 })
})
afterEach(() => fixture.end())

const create = (replicas: number, minReadySeconds = 0): Promise<unknown> =>
  fixture.api.create<ReplicaSet>(ReplicaSet, {
    metadata: { name: 'set' },
    spec: { replicas, minReadySeconds, selector: { matchLabels: { app: 'set' } }, template: template('set') },
  })
const scale = (replicas: number): Promise<unknown> =>
  fixture.api.patch(ReplicaSet, { name: 'set' }, mergePatch({ spec: { replicas } }))
const status = async (): Promise<ReplicaSet['status']> => (await fixture.get(ReplicaSet, 'set'))?.status
const bare = (
  name: string,
  labels: Record<string, string>,
  annotations: Record<string, string> = {},
): Promise<unknown> =>
  fixture.api.create<Pod>(Pod, {
    metadata: { name, labels, annotations },
    spec: { containers: [{ name: 'main', image: 'app' }] },
  })

test('a matching pod is adopted, and a pod that no longer matches is released and replaced', async () => {
  await bare('stray', { app: 'set' })
  await create(2)
  await fixture.until(async () => (await status())?.availableReplicas === 2, 'available')
  expect((await fixture.pods('app=set')).length).toBe(2)
  expect((await fixture.get(Pod, 'stray'))?.metadata.ownerReferences).toMatchObject([
    { kind: 'ReplicaSet', name: 'set' },
  ])
  await fixture.api.patch(Pod, { name: 'stray' }, mergePatch({ metadata: { labels: { app: 'other' } } }))
  await fixture.until(
    async () => (await fixture.pods('app=set')).length === 2 && (await status())?.availableReplicas === 2,
    'replaced',
  )
  expect((await fixture.get(Pod, 'stray'))?.metadata.ownerReferences).toBeUndefined()
})

test('scaling down deletes unready and cheap pods first', async () => {
  await bare('dear', { app: 'set' }, { 'controller.kubernetes.io/pod-deletion-cost': '10' })
  await bare('broken', { app: 'set' }, { [SIMULATE.ready]: 'never' })
  await create(4)
  await fixture.until(async () => (await status())?.readyReplicas === 3, 'three ready')
  await scale(3)
  await fixture.until(async () => (await fixture.get(Pod, 'broken')) === undefined, 'the one that is not ready went')
  await scale(1)
  await fixture.until(async () => (await fixture.pods('app=set')).length === 1, 'one is left')
  expect((await fixture.pods('app=set'))[0]?.metadata.name).toBe('dear')
})

test('a pod counts as available only after minReadySeconds', async () => {
  await create(1, 20)
  await fixture.until(async () => (await status())?.readyReplicas === 1, 'ready')
  expect((await status())?.availableReplicas ?? 0).toBe(0)
  await fixture.until(async () => (await status())?.availableReplicas === 1, 'available', 25_000)
})

test('a deleted pod is replaced', async () => {
  await create(2)
  await fixture.until(async () => (await status())?.availableReplicas === 2, 'available')
  const [pod] = await fixture.pods('app=set')
  await fixture.api.delete(Pod, { name: pod?.metadata.name ?? '' })
  await fixture.until(async () => (await fixture.get(Pod, pod?.metadata.name ?? '')) === undefined, 'gone')
  await fixture.until(async () => (await status())?.availableReplicas === 2, 'replaced')
  expect((await fixture.events('set')).filter((event) => event.startsWith('SuccessfulCreate')).length).toBe(3)
})

test('a DaemonSet runs a pod on every fitting node and follows nodes and templates', async () => {
  const daemon = async (): Promise<DaemonSet['status']> => (await fixture.get(DaemonSet, 'agent'))?.status
  await fixture.api.create<DaemonSet>(DaemonSet, {
    metadata: { name: 'agent' },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
  })
  await fixture.until(async () => (await daemon())?.numberAvailable === 2, 'on both nodes')
  const nodes = (await fixture.pods('app=agent')).map(({ spec }) => spec?.nodeName ?? '').toSorted()
  expect(nodes).toEqual(['tenure-node', 'tenure-node-2'])
  await fixture.api.patch(DaemonSet, { name: 'agent' }, mergePatch({ spec: { template: template('agent', 'app:2') } }))
  await fixture.until(async () => {
    const now = await daemon()
    return now?.observedGeneration === 2 && now.updatedNumberScheduled === 2 && now.numberAvailable === 2
  }, 'updated')
  expect((await fixture.pods('app=agent')).map(({ spec }) => spec?.containers[0]?.image)).toEqual(['app:2', 'app:2'])
  await fixture.api.patch(Node, { name: 'tenure-node-2' }, mergePatch({ metadata: { labels: { role: 'special' } } }))
  const onlyThere = template('agent', 'app:2', undefined, { nodeSelector: { role: 'special' } })
  await fixture.api.patch(DaemonSet, { name: 'agent' }, mergePatch({ spec: { template: onlyThere } }))
  await fixture.until(
    async () => (await fixture.pods('app=agent')).length === 1 && (await daemon())?.numberAvailable === 1,
    'on one node',
  )
  expect(await daemon()).toMatchObject({ desiredNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 0 })
})
