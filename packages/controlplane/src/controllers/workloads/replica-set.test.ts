import { mergePatch } from '@tenure/kube'
import { DaemonSet, Node, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SIMULATE } from '../nodes/simulation.ts'
import { template, World } from '../fixture.testing.ts'

let world: World
beforeEach(async () => {
  world = await World.start({ count: 2 })
})
afterEach(() => world.end())

const create = (replicas: number, minReadySeconds = 0): Promise<unknown> =>
  world.api.create<ReplicaSet>(ReplicaSet, {
    metadata: { name: 'set' },
    spec: { replicas, minReadySeconds, selector: { matchLabels: { app: 'set' } }, template: template('set') },
  })
const scale = (replicas: number): Promise<unknown> =>
  world.api.patch(ReplicaSet, { name: 'set' }, mergePatch({ spec: { replicas } }))
const status = async (): Promise<ReplicaSet['status']> => (await world.get(ReplicaSet, 'set'))?.status
const bare = (
  name: string,
  labels: Record<string, string>,
  annotations: Record<string, string> = {},
): Promise<unknown> =>
  world.api.create<Pod>(Pod, {
    metadata: { name, labels, annotations },
    spec: { containers: [{ name: 'main', image: 'app' }] },
  })

test('a pod that fits is adopted; one whose labels change is let go and replaced', async () => {
  await bare('stray', { app: 'set' })
  await create(2)
  await world.until(async () => (await status())?.availableReplicas === 2, 'available')
  expect((await world.pods('app=set')).length).toBe(2)
  expect((await world.get(Pod, 'stray'))?.metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', name: 'set' }])
  await world.api.patch(Pod, { name: 'stray' }, mergePatch({ metadata: { labels: { app: 'other' } } }))
  await world.until(
    async () => (await world.pods('app=set')).length === 2 && (await status())?.availableReplicas === 2,
    'replaced',
  )
  expect((await world.get(Pod, 'stray'))?.metadata.ownerReferences).toBeUndefined()
})

test('the pods that are missed least go first', async () => {
  await bare('dear', { app: 'set' }, { 'controller.kubernetes.io/pod-deletion-cost': '10' })
  await bare('broken', { app: 'set' }, { [SIMULATE.ready]: 'never' })
  await create(4)
  await world.until(async () => (await status())?.readyReplicas === 3, 'three ready')
  await scale(3)
  await world.until(async () => (await world.get(Pod, 'broken')) === undefined, 'the one that is not ready went')
  await scale(1)
  await world.until(async () => (await world.pods('app=set')).length === 1, 'one is left')
  expect((await world.pods('app=set'))[0]?.metadata.name).toBe('dear')
})

test('a pod counts as available only after minReadySeconds', async () => {
  await create(1, 20)
  await world.until(async () => (await status())?.readyReplicas === 1, 'ready')
  expect((await status())?.availableReplicas ?? 0).toBe(0)
  await world.until(async () => (await status())?.availableReplicas === 1, 'available', 25_000)
})

test('a pod that is deleted is made again', async () => {
  await create(2)
  await world.until(async () => (await status())?.availableReplicas === 2, 'available')
  const [pod] = await world.pods('app=set')
  await world.api.delete(Pod, { name: pod?.metadata.name ?? '' })
  await world.until(async () => (await world.get(Pod, pod?.metadata.name ?? '')) === undefined, 'gone')
  await world.until(async () => (await status())?.availableReplicas === 2, 'replaced')
  expect((await world.events('set')).filter((event) => event.startsWith('SuccessfulCreate')).length).toBe(3)
})

test('a DaemonSet has a pod on every node that it may use, and follows nodes and templates', async () => {
  const daemon = async (): Promise<DaemonSet['status']> => (await world.get(DaemonSet, 'agent'))?.status
  await world.api.create<DaemonSet>(DaemonSet, {
    metadata: { name: 'agent' },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
  })
  await world.until(async () => (await daemon())?.numberAvailable === 2, 'on both nodes')
  const nodes = (await world.pods('app=agent')).map(({ spec }) => spec?.nodeName ?? '').toSorted()
  expect(nodes).toEqual(['tenure-node', 'tenure-node-2'])
  await world.api.patch(DaemonSet, { name: 'agent' }, mergePatch({ spec: { template: template('agent', 'app:2') } }))
  await world.until(async () => {
    const now = await daemon()
    return now?.observedGeneration === 2 && now.updatedNumberScheduled === 2 && now.numberAvailable === 2
  }, 'updated')
  expect((await world.pods('app=agent')).map(({ spec }) => spec?.containers[0]?.image)).toEqual(['app:2', 'app:2'])
  await world.api.patch(Node, { name: 'tenure-node-2' }, mergePatch({ metadata: { labels: { role: 'special' } } }))
  const onlyThere = template('agent', 'app:2', undefined, { nodeSelector: { role: 'special' } })
  await world.api.patch(DaemonSet, { name: 'agent' }, mergePatch({ spec: { template: onlyThere } }))
  await world.until(
    async () => (await world.pods('app=agent')).length === 1 && (await daemon())?.numberAvailable === 1,
    'on one node',
  )
  expect(await daemon()).toMatchObject({ desiredNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 0 })
})
