import { PersistentVolume, PersistentVolumeClaim, Pod } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { World } from '../fixture.testing.ts'

let world: World
beforeEach(async () => {
  world = await World.start()
})
afterEach(() => world.end())

const claim = (name: string, spec: Partial<NonNullable<PersistentVolumeClaim['spec']>> = {}): Promise<unknown> =>
  world.api.create<PersistentVolumeClaim>(PersistentVolumeClaim, {
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
const phase = async (name: string): Promise<string | undefined> =>
  (await world.get(PersistentVolumeClaim, name))?.status?.phase

test('a claim gets a volume made for it, and takes it along', async () => {
  await claim('data')
  await world.until(async () => (await phase('data')) === 'Bound', 'bound')
  const bound = await world.get(PersistentVolumeClaim, 'data')
  expect(bound?.spec).toMatchObject({ storageClassName: 'standard', volumeName: `pvc-${bound?.metadata.uid}` })
  expect(bound?.status).toMatchObject({ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } })
  expect(bound?.metadata.annotations).toMatchObject({ 'pv.kubernetes.io/bind-completed': 'yes' })
  const [volume] = await world.list(PersistentVolume)
  expect(volume?.status?.phase).toBe('Bound')
  expect(volume?.spec?.claimRef).toMatchObject({ name: 'data', namespace: 'default', uid: bound?.metadata.uid })
  await world.api.delete(PersistentVolumeClaim, { name: 'data' })
  await world.until(async () => (await world.list(PersistentVolume)).length === 0, 'volume gone')
})

test('a volume that is there and fits is taken, the smallest first; kept, it is released', async () => {
  for (const [name, storage] of [
    ['large', '100Gi'],
    ['fits', '2Gi'],
    ['small', '500Mi'],
  ] as const) {
    await world.api.create<PersistentVolume>(PersistentVolume, {
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
  await world.until(async () => (await phase('data')) === 'Bound', 'bound')
  expect((await world.get(PersistentVolumeClaim, 'data'))?.spec?.volumeName).toBe('fits')
  await world.api.delete(PersistentVolumeClaim, { name: 'data' })
  await world.until(async () => (await world.get(PersistentVolume, 'fits'))?.status?.phase === 'Released', 'released')
  await world.settle()
  expect(
    (await world.list(PersistentVolume)).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).toSorted(),
  ).toEqual(['fits Released', 'large Available', 'small Available'])
})

test('a claim of an unknown class waits, and so does its pod', async () => {
  await claim('data', { storageClassName: 'nowhere' })
  await world.api.create<Pod>(Pod, {
    metadata: { name: 'pod' },
    spec: {
      containers: [{ name: 'a', image: 'a' }],
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  await world.settle()
  expect(await phase('data')).toBe('Pending')
  expect(await world.events('data')).toEqual(['ProvisioningFailed: storageclass.storage.k8s.io "nowhere" not found'])
  expect((await world.get(Pod, 'pod'))?.status?.conditions).toMatchObject([
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    },
  ])
})

test('a claim that a pod uses goes only after the pod', async () => {
  await claim('data')
  await world.api.create<Pod>(Pod, {
    metadata: { name: 'pod' },
    spec: {
      containers: [{ name: 'a', image: 'a' }],
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  await world.until(async () => (await world.get(Pod, 'pod'))?.status?.phase === 'Running', 'running')
  await world.api.delete(PersistentVolumeClaim, { name: 'data' })
  await world.settle()
  expect((await world.get(PersistentVolumeClaim, 'data'))?.metadata.deletionTimestamp).toBeDefined()
  await world.api.delete(Pod, { name: 'pod' })
  await world.until(async () => (await world.get(PersistentVolumeClaim, 'data')) === undefined, 'gone')
})
