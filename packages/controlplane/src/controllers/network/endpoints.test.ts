import { mergePatch } from '@tenure/kube'
import { Deployment, Endpoints, EndpointSlice, Pod, PodDisruptionBudget, Service } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlaneFixture } from '../fixture.testing.ts'
import { SIMULATE } from '../nodes/simulation.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

const service = (spec: Partial<NonNullable<Service['spec']>> = {}): Promise<unknown> =>
  fixture.api.create<Service>(Service, {
    metadata: { name: 'web', labels: { team: 'x' } },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
  })
const slice = async (): Promise<EndpointSlice | undefined> =>
  (await fixture.list(EndpointSlice, 'kubernetes.io/service-name=web'))[0]
const ready = async (): Promise<number> =>
  ((await slice())?.endpoints ?? []).filter(({ conditions }) => conditions?.ready).length

test('Endpoints and EndpointSlices follow the pods of a Service', async () => {
  await service()
  await fixture.settle()
  expect((await slice())?.endpoints ?? []).toEqual([])
  await fixture.deployment('web', { replicas: 2 })
  await fixture.until(async () => (await ready()) === 2, 'two endpoints')
  await fixture.settle()
  const found = await slice()
  expect(found?.metadata).toMatchObject({
    generateName: 'web-',
    labels: {
      team: 'x',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': 'web',
    },
    ownerReferences: [{ kind: 'Service', name: 'web', controller: true, blockOwnerDeletion: true }],
  })
  expect(found?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }])
  expect(found?.endpoints?.[0]).toMatchObject({
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'tenure-node',
    targetRef: { kind: 'Pod' },
  })
  const older = await fixture.get(Endpoints, 'web')
  expect(older?.subsets?.[0]?.addresses?.map(({ ip }) => ip)).toEqual(
    found?.endpoints?.map(({ addresses }) => addresses[0]),
  )
  expect(older?.subsets?.[0]?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }])
  const [pod] = await fixture.pods('app=web')
  await fixture.api.patch(Pod, { name: pod?.metadata.name ?? '' }, mergePatch({ metadata: { labels: { app: 'not' } } }))
  await fixture.until(
    async () => ((await slice())?.endpoints ?? []).every(({ targetRef }) => targetRef?.name !== pod?.metadata.name),
    'left',
  )
  await fixture.api.delete(Service, { name: 'web' })
  await fixture.until(
    async () => (await slice()) === undefined && (await fixture.get(Endpoints, 'web')) === undefined,
    'gone with the Service',
  )
})

test('unready pods are listed as not ready', async () => {
  await service({ ports: [{ port: 80, targetPort: 'http' }] })
  await fixture.api.create<Pod>(Pod, {
    metadata: { name: 'slow', labels: { app: 'web' }, annotations: { [SIMULATE.ready]: 'never' } },
    spec: { containers: [{ name: 'a', image: 'a', ports: [{ name: 'http', containerPort: 9000 }] }] },
  })
  await fixture.until(async () => (await slice())?.endpoints?.length === 1, 'listed')
  await fixture.settle()
  expect((await slice())?.endpoints?.[0]?.conditions).toEqual({ ready: false, serving: false, terminating: false })
  expect((await slice())?.ports).toEqual([{ name: '', port: 9000, protocol: 'TCP' }])
  expect((await fixture.get(Endpoints, 'web'))?.subsets?.[0]?.notReadyAddresses?.length).toBe(1)
})

test('updated endpoints follow the labels of the Service', async () => {
  await service()
  await fixture.api.patch(Service, { name: 'web' }, mergePatch({ metadata: { labels: { tier: 'old' } } }))
  await fixture.deployment('web', { replicas: 1 })
  await fixture.until(async () => (await slice())?.metadata?.labels?.['tier'] === 'old', 'labeled')
  await fixture.settle()
  await fixture.api.patch(Service, { name: 'web' }, mergePatch({ metadata: { labels: { tier: null, side: 'new' } } }))
  await fixture.api.patch(Deployment, { name: 'web' }, mergePatch({ spec: { replicas: 2 } }))
  await fixture.until(() => fixture.isRolledOut('web'), 'scaled')
  await fixture.settle()
  for (const object of [await slice(), await fixture.get(Endpoints, 'web')]) {
    expect(object?.metadata?.labels).toMatchObject({ side: 'new' })
    expect(object?.metadata?.labels).not.toHaveProperty('tier')
  }
})

test('endpoints beyond the limit go to another slice', async () => {
  await service()
  await fixture.deployment('web', { replicas: 130 })
  const sizes = async (): Promise<readonly number[]> =>
    (await fixture.list(EndpointSlice, 'kubernetes.io/service-name=web'))
      .map(({ endpoints }) => endpoints?.length ?? 0)
      .toSorted((a, b) => a - b)
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  await fixture.settle()
  expect(await sizes()).toEqual([30, 100])
})

test('a PodDisruptionBudget reports the allowed disruptions', async () => {
  await fixture.api.create<PodDisruptionBudget>(PodDisruptionBudget, {
    metadata: { name: 'web' },
    spec: { maxUnavailable: '34%', selector: { matchLabels: { app: 'web' } } },
  })
  const status = async (): Promise<PodDisruptionBudget['status']> =>
    (await fixture.get(PodDisruptionBudget, 'web'))?.status
  await fixture.settle()
  expect(await status()).toMatchObject({
    disruptionsAllowed: 0,
    expectedPods: 0,
    conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
  })
  await fixture.deployment('web', { replicas: 3 })
  await fixture.until(async () => (await status())?.currentHealthy === 3, 'healthy')
  expect(await status()).toMatchObject({
    disruptionsAllowed: 2,
    desiredHealthy: 1,
    expectedPods: 3,
    conditions: [{ status: 'True', reason: 'SufficientPods' }],
  })
})
