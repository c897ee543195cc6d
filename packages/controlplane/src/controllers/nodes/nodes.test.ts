import { mergePatch, type Stored } from '@tenure/kube'
import { Lease, Node, Pod, type PodSpec } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlaneFixture } from '../fixture.testing.ts'
import { SIMULATE } from './simulation.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

const run = (annotations: Record<string, string> = {}, spec: Partial<PodSpec> = {}): Promise<unknown> =>
  fixture.api.create<Pod>(Pod, {
    metadata: { name: 'pod', annotations },
    spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
  })
const pod = (): Promise<Stored<Pod> | undefined> => fixture.get(Pod, 'pod')
const container = async (): Promise<NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number] | undefined> =>
  (await pod())?.status?.containerStatuses?.[0]
const waitsFor = (reason: string): Promise<void> =>
  fixture.until(async () => (await container())?.state?.waiting?.reason === reason, reason, 600_000, 200)
const condition = async (type: string): Promise<string | undefined> => {
  const found = (await pod())?.status?.conditions?.find((each) => each.type === type)
  return found && [found.status, found.reason, found.message].filter(Boolean).join(' ')
}

test('a node is ready and renews its Lease', async () => {
  const node = await fixture.get(Node, 'tenure-node')
  expect(node?.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'True',
    reason: 'KubeletReady',
  })
  const renewed = async (): Promise<string | undefined> =>
    (await fixture.get(Lease, 'tenure-node', 'kube-node-lease'))?.spec?.renewTime
  const before = await renewed()
  await fixture.clock.advance(310_000)
  expect(await renewed()).not.toBe(before)
})

test('a pod becomes running and ready with the status and Events of a kubelet', async () => {
  await run()
  await waitsFor('ContainerCreating')
  expect((await pod())?.status).toMatchObject({ phase: 'Pending', hostIP: '172.18.0.2' })
  expect(await condition('Ready')).toBe('False ContainersNotReady containers with unready status: [main]')
  await fixture.until(async () => (await pod())?.status?.phase === 'Running', 'running')
  const status = (await pod())?.status
  expect(status?.podIP).toMatch(/^10\.244\./)
  expect(status?.conditions?.map(({ status: is, type }) => `${type} ${is}`).toSorted()).toEqual([
    'ContainersReady True',
    'Initialized True',
    'PodReadyToStartContainers True',
    'PodScheduled True',
    'Ready True',
  ])
  expect(await container()).toMatchObject({
    name: 'main',
    ready: true,
    started: true,
    restartCount: 0,
    image: 'docker.io/library/nginx:latest',
  })
  await fixture.settle()
  expect((await fixture.events('pod')).map((event) => event.split(':')[0] ?? '').toSorted()).toEqual([
    'Created',
    'Pulled',
    'Scheduled',
    'Started',
  ])
})

test('annotations delay the pull, the start and the readiness', async () => {
  await run({ [SIMULATE.pull]: '10s', [SIMULATE.start]: '5s', [SIMULATE.ready]: '20s' })
  const start = fixture.clock.now()
  await fixture.until(async () => (await pod())?.status?.phase === 'Running', 'running')
  expect(fixture.clock.now() - start).toBeGreaterThanOrEqual(15_000)
  expect(await condition('Ready')).toMatch(/^False/)
  await fixture.until(async () => (await condition('Ready')) === 'True', 'ready')
  expect(fixture.clock.now() - start).toBeGreaterThanOrEqual(35_000)
})

test('a failing image pull backs off and recovers when the annotation is removed', async () => {
  await run({ [SIMULATE.pullFailure]: 'unauthorized' })
  await waitsFor('ErrImagePull')
  expect((await container())?.state?.waiting?.message).toBe(
    'failed to pull and unpack image "nginx": failed to resolve reference "nginx": unauthorized',
  )
  await waitsFor('ImagePullBackOff')
  await fixture.settle()
  expect(await fixture.events('pod')).toEqual(
    expect.arrayContaining(['Failed: Error: ErrImagePull', 'BackOff: Back-off pulling image "nginx"']),
  )
  await fixture.api.patch(
    Pod,
    { name: 'pod' },
    mergePatch({ metadata: { annotations: { [SIMULATE.pullFailure]: null } } }),
  )
  await fixture.until(async () => (await pod())?.status?.phase === 'Running', 'running')
})

test('a crash loop counts restarts and backs off exponentially', async () => {
  await run({ [SIMULATE.exitCode]: '2', [SIMULATE.exitAfter]: '1s' })
  await waitsFor('CrashLoopBackOff')
  expect(await container()).toMatchObject({
    restartCount: 1,
    ready: false,
    lastState: { terminated: { exitCode: 2, reason: 'Error' } },
  })
  expect((await container())?.state?.waiting?.message).toMatch(
    /^back-off 10s restarting failed container=main pod=pod_default\(/,
  )
  const starts: number[] = []
  for (let count = 2; count <= 4; count++) {
    await fixture.until(async () => (await container())?.restartCount === count, `restart ${count}`, 600_000, 200)
    starts.push(fixture.clock.now())
  }
  expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(20_000)
  expect((starts[2] ?? 0) - (starts[1] ?? 0)).toBeGreaterThanOrEqual(40_000)
  expect((await pod())?.status?.phase).toBe('Running')
})

test.each([
  ['Never', '0', 'Succeeded', 'PodCompleted', 'Completed'],
  ['Never', '3', 'Failed', 'PodFailed', 'Error'],
  ['OnFailure', '0', 'Succeeded', 'PodCompleted', 'Completed'],
] as const)(
  'with restartPolicy %s and exit code %s a pod ends as %s',
  async (restartPolicy, code, phase, why, reason) => {
    await run({ [SIMULATE.exitCode]: code, [SIMULATE.exitAfter]: '2s' }, { restartPolicy })
    await fixture.until(async () => (await pod())?.status?.phase === phase, phase)
    expect((await container())?.state?.terminated).toMatchObject({ exitCode: Number(code), reason })
    expect(await condition('Ready')).toBe(`False ${why}`)
  },
)

test('init containers run before the others', async () => {
  await run({}, { initContainers: [{ name: 'first', image: 'i' }] })
  await waitsFor('PodInitializing')
  expect(await condition('Initialized')).toBe(
    'False ContainersNotInitialized containers with incomplete status: [first]',
  )
  await fixture.until(async () => (await pod())?.status?.phase === 'Running', 'running')
  expect((await pod())?.status?.initContainerStatuses?.[0]?.state?.terminated?.reason).toBe('Completed')
})

test('a pod with a readiness gate is ready after the condition is true', async () => {
  await run({}, { readinessGates: [{ conditionType: 'example.dev/gate' }] })
  await fixture.until(async () => (await pod())?.status?.phase === 'Running', 'running')
  expect(await condition('Ready')).toBe(
    'False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.dev/gate" does not exist.',
  )
  const current = await pod()
  const conditions = [...(current?.status?.conditions ?? []), { type: 'example.dev/gate', status: 'True' }]
  await fixture.api.patch(Pod, { name: 'pod' }, mergePatch({ status: { conditions } }), { subresource: 'status' })
  await fixture.until(async () => (await condition('Ready')) === 'True', 'ready')
  expect(await condition('example.dev/gate')).toBe('True')
})

test('a deleted pod stops within its grace period', async () => {
  await run({ [SIMULATE.stop]: 'never' }, { terminationGracePeriodSeconds: 7 })
  await fixture.until(async () => (await pod())?.status?.phase === 'Running', 'running')
  const start = fixture.clock.now()
  await fixture.api.delete(Pod, { name: 'pod' })
  await fixture.clock.advance(6_000)
  expect((await pod())?.metadata.deletionTimestamp).toBeDefined()
  await fixture.until(async () => (await pod()) === undefined, 'gone')
  expect(fixture.clock.now() - start).toBeLessThan(8_500)
})

test('an unschedulable pod reports the reason and is bound when a node fits', async () => {
  await run({}, { nodeSelector: { disk: 'fast' } })
  await fixture.settle()
  expect(await condition('PodScheduled')).toBe(
    "False Unschedulable 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  )
  expect((await fixture.events('pod')).some((event) => event.startsWith('FailedScheduling: 0/1 nodes'))).toBe(true)
  await fixture.api.patch(Node, { name: 'tenure-node' }, mergePatch({ metadata: { labels: { disk: 'fast' } } }))
  await fixture.until(async () => (await pod())?.status?.phase === 'Running', 'running')
})

test('a cordoned node takes no new pods', async () => {
  await fixture.api.patch(Node, { name: 'tenure-node' }, mergePatch({ spec: { unschedulable: true } }))
  await run()
  await fixture.settle()
  expect(await condition('PodScheduled')).toMatch(
    /^False Unschedulable 0\/1 nodes are available: 1 node\(s\) were unschedulable\./,
  )
  await fixture.api.delete(Pod, { name: 'pod' })
  await fixture.until(async () => (await pod()) === undefined, 'deleted')
})

test('a pod on a missing node is deleted after a delay', async () => {
  await run({}, { nodeName: 'nowhere' })
  await fixture.api.delete(Pod, { name: 'pod', namespace: 'default' }, { gracePeriodSeconds: 600 })
  await fixture.clock.advance(30_000)
  expect((await pod())?.metadata.deletionTimestamp).toBeDefined()
  await fixture.until(async () => (await pod()) === undefined, 'gone', 60_000, 1000)
})

test('a node that is not ready or is cordoned has a NoSchedule taint', async () => {
  const taints = async (): Promise<unknown> =>
    (await fixture.get(Node, 'other', ''))?.spec?.taints?.map(({ key }) => key)
  const marked = (...names: readonly string[]): Promise<void> => {
    const wanted = JSON.stringify(names.map((name) => `node.kubernetes.io/${name}`))
    return fixture.until(async () => JSON.stringify((await taints()) ?? []) === wanted, wanted)
  }
  const ready = (status: string): Promise<unknown> =>
    fixture.api.patch(Node, { name: 'other' }, mergePatch({ status: { conditions: [{ type: 'Ready', status }] } }), {
      subresource: 'status',
    })
  await fixture.api.create<Node>(Node, { metadata: { name: 'other' } })
  expect(await taints()).toEqual(['node.kubernetes.io/not-ready'])
  await ready('True')
  await marked()
  await fixture.api.patch(Node, { name: 'other' }, mergePatch({ spec: { unschedulable: true } }))
  await marked('unschedulable')
  await ready('Unknown')
  await marked('unschedulable', 'unreachable')
  await fixture.api.patch(Node, { name: 'other' }, mergePatch({ spec: { unschedulable: false } }))
  await ready('True')
  await marked()
})
