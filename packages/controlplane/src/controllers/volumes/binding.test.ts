import { PersistentVolume, PersistentVolumeClaim, Pod } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlaneFixture } from '../fixture.testing.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

const claim = (name: string, spec: Partial<NonNullable<PersistentVolumeClaim['spec']>> = {}): Promise<unknown> =>
  fixture.api.create<PersistentVolumeClaim>(PersistentVolumeClaim, {
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
const phase = async (name: string): Promise<string | undefined> =>
  (await fixture.get(PersistentVolumeClaim, name))?.status?.phase

test('a claim is bound to a provisioned volume, which is deleted with it', async () => {
  await claim('data')
  await fixture.until(async () => (await phase('data')) === 'Bound', 'bound')
  const bound = await fixture.get(PersistentVolumeClaim, 'data')
  expect(bound?.spec).toMatchObject({ storageClassName: 'standard', volumeName: `pvc-${bound?.metadata.uid}` })
  expect(bound?.status).toMatchObject({ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } })
  expect(bound?.metadata.annotations).toMatchObject({ 'pv.kubernetes.io/bind-completed': 'yes' })
  const [volume] = await fixture.list(PersistentVolume)
  expect(volume?.status?.phase).toBe('Bound')
  expect(volume?.spec?.claimRef).toMatchObject({ name: 'data', namespace: 'default', uid: bound?.metadata.uid })
  await fixture.api.delete(PersistentVolumeClaim, { name: 'data' })
  await fixture.until(async () => (await fixture.list(PersistentVolume)).length === 0, 'volume gone')
})

test('a claim is bound to the smallest fitting volume, which is released if its policy is Retain', async () => {
  for (const [name, storage] of [
    ['large', '100Gi'],
    ['fits', '2Gi'],
    ['small', '500Mi'],
  ] as const) {
    await fixture.api.create<PersistentVolume>(PersistentVolume, {
      metadata: { name },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'manual',
        hostPath: { path: '/x' },
        persistentVolumeReclaimPolicy: 'Retain',
      },
    })
  }
  await claim('data', { storageClassName: 'manual' })
  await fixture.until(async () => (await phase('data')) === 'Bound', 'bound')
  expect((await fixture.get(PersistentVolumeClaim, 'data'))?.spec?.volumeName).toBe('fits')
  await fixture.api.delete(PersistentVolumeClaim, { name: 'data' })
  await fixture.until(
    async () => (await fixture.get(PersistentVolume, 'fits'))?.status?.phase === 'Released',
    'released',
  )
  await fixture.settle()
  expect(
    (await fixture.list(PersistentVolume))
      .map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)
      .toSorted(),
  ).toEqual(['fits Released', 'large Available', 'small Available'])
})

const volume = (name: string, spec: Partial<NonNullable<PersistentVolume['spec']>> = {}): Promise<unknown> =>
  fixture.api.create<PersistentVolume>(PersistentVolume, {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'manual',
      hostPath: { path: '/x' },
      persistentVolumeReclaimPolicy: 'Retain',
      ...spec,
    },
  })

test('a volume that was deleted while it was bound goes when its claim is gone', async () => {
  await volume('v')
  await claim('data', { storageClassName: 'manual' })
  await fixture.until(async () => (await phase('data')) === 'Bound', 'bound')
  await fixture.api.delete(PersistentVolume, { name: 'v' })
  await fixture.settle()
  expect((await fixture.get(PersistentVolume, 'v'))?.metadata.deletionTimestamp).toBeDefined()
  await fixture.api.delete(PersistentVolumeClaim, { name: 'data' })
  await fixture.until(async () => (await fixture.get(PersistentVolume, 'v')) === undefined, 'gone')
})

test('a volume is released although its claim was deleted before it named the volume', async () => {
  await claim('data', { storageClassName: 'manual' })
  await fixture.settle()
  const pending = await fixture.get(PersistentVolumeClaim, 'data')
  const { uid = '' } = pending?.metadata ?? {}
  await volume('v', { claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data', uid } })
  await fixture.api.delete(PersistentVolumeClaim, { name: 'data' })
  await fixture.settle()
  expect((await fixture.get(PersistentVolume, 'v'))?.status?.phase).toBe('Released')
  await fixture.api.delete(PersistentVolume, { name: 'v' })
  await fixture.until(async () => (await fixture.get(PersistentVolume, 'v')) === undefined, 'gone')
})

test('a claim of an unknown class and its pod stay pending', async () => {
  await claim('data', { storageClassName: 'nowhere' })
  await fixture.api.create<Pod>(Pod, {
    metadata: { name: 'pod' },
    spec: {
      containers: [{ name: 'a', image: 'a' }],
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  await fixture.settle()
  expect(await phase('data')).toBe('Pending')
  expect(await fixture.events('data')).toEqual(['ProvisioningFailed: storageclass.storage.k8s.io "nowhere" not found'])
  expect((await fixture.get(Pod, 'pod'))?.status?.conditions).toMatchObject([
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    },
  ])
})

test('a claim in use is deleted only after its pod', async () => {
  await claim('data')
  await fixture.api.create<Pod>(Pod, {
    metadata: { name: 'pod' },
    spec: {
      containers: [{ name: 'a', image: 'a' }],
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  await fixture.until(async () => (await fixture.get(Pod, 'pod'))?.status?.phase === 'Running', 'running')
  await fixture.api.delete(PersistentVolumeClaim, { name: 'data' })
  await fixture.settle()
  expect((await fixture.get(PersistentVolumeClaim, 'data'))?.metadata.deletionTimestamp).toBeDefined()
  await fixture.api.delete(Pod, { name: 'pod' })
  await fixture.until(async () => (await fixture.get(PersistentVolumeClaim, 'data')) === undefined, 'gone')
})
