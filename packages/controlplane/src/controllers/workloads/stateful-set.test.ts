import { mergePatch } from '@tenure/kube'
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { template, ControlPlaneFixture } from '../fixture.testing.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

const create = (spec: Partial<NonNullable<StatefulSet['spec']>> = {}): Promise<unknown> =>
  fixture.api.create<StatefulSet>(StatefulSet, {
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: template('db'),
      ...spec,
    },
  })
const patch = (spec: object): Promise<unknown> => fixture.api.patch(StatefulSet, { name: 'db' }, mergePatch({ spec }))
const names = async (): Promise<readonly string[]> =>
  (await fixture.pods('app=db')).map(({ metadata }) => metadata.name).toSorted()
const isReady = async (count: number): Promise<boolean> => {
  const status = (await fixture.get(StatefulSet, 'db'))?.status
  return status?.readyReplicas === count && status.replicas === count
}
const images = async (): Promise<readonly (string | undefined)[]> =>
  (await fixture.pods('app=db'))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(({ spec }) => spec?.containers[0]?.image)

const claims = {
  volumeClaimTemplates: [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
    },
  ],
}

test('pods with their claims are created in order and deleted in reverse', async () => {
  await create(claims)
  const observed: string[] = []
  const watchOrder = async (done: () => Promise<boolean>): Promise<void> =>
    fixture.until(async () => {
      const now = (await names()).join(' ')
      if (observed.at(-1) !== now) observed.push(now)
      return done()
    }, 'settled')
  await watchOrder(() => isReady(3))
  const [first] = await fixture.pods('statefulset.kubernetes.io/pod-name=db-0')
  expect(first?.metadata.labels).toMatchObject({ app: 'db', 'apps.kubernetes.io/pod-index': '0' })
  expect(first?.spec).toMatchObject({ hostname: 'db-0', subdomain: 'db' })
  expect(first?.spec?.volumes?.[0]).toEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } })
  await patch({ replicas: 1 })
  await watchOrder(() => isReady(1))
  expect(observed.filter(Boolean)).toEqual(['db-0', 'db-0 db-1', 'db-0 db-1 db-2', 'db-0 db-1', 'db-0'])
  const left = await fixture.list(PersistentVolumeClaim)
  expect(left.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).toSorted()).toEqual([
    'data-db-0 Bound',
    'data-db-1 Bound',
    'data-db-2 Bound',
  ])
})

test('Parallel creates all pods at once', async () => {
  await create({ podManagementPolicy: 'Parallel' })
  await fixture.until(async () => (await names()).length > 0, 'created')
  expect(await names()).toEqual(['db-0', 'db-1', 'db-2'])
})

test('an update replaces pods one at a time from the last to the partition, then moves the current revision', async () => {
  await create()
  await fixture.until(() => isReady(3), 'ready')
  await fixture.settle()
  const before = (await fixture.get(StatefulSet, 'db'))?.status
  expect(before?.currentRevision).toBe(before?.updateRevision)
  await patch({ template: template('db', 'app:2'), updateStrategy: { rollingUpdate: { partition: 2 } } })
  let fewest = 3
  await fixture.until(async () => {
    const status = (await fixture.get(StatefulSet, 'db'))?.status
    fewest = Math.min(fewest, status?.readyReplicas ?? 0)
    return status?.updatedReplicas === 1 && status.readyReplicas === 3
  }, 'one updated')
  await fixture.settle()
  expect(await images()).toEqual(['app:1', 'app:1', 'app:2'])
  expect((await fixture.get(StatefulSet, 'db'))?.status).toMatchObject({
    currentReplicas: 2,
    updatedReplicas: 1,
    currentRevision: before?.currentRevision,
  })
  await patch({ updateStrategy: { rollingUpdate: { partition: 0 } } })
  await fixture.until(
    async () => (await images()).every((image) => image === 'app:2') && (await isReady(3)),
    'all updated',
  )
  await fixture.settle()
  const after = (await fixture.get(StatefulSet, 'db'))?.status
  expect(after?.currentRevision).toBe(after?.updateRevision)
  expect(after?.currentRevision).not.toBe(before?.currentRevision)
  expect(fewest).toBe(2)
  expect((await fixture.list(ControllerRevision)).map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual([
    1, 2,
  ])
})

test('OnDelete updates a pod only after its deletion', async () => {
  await create({ replicas: 2, updateStrategy: { type: 'OnDelete' } })
  await fixture.until(() => isReady(2), 'ready')
  await patch({ template: template('db', 'app:2') })
  await fixture.settle()
  expect(await images()).toEqual(['app:1', 'app:1'])
  await fixture.api.delete(Pod, { name: 'db-0' })
  await fixture.until(async () => (await images())[0] === 'app:2' && (await isReady(2)), 'replaced')
  expect(await images()).toEqual(['app:2', 'app:1'])
})

test('the retention policy decides the deletion of claims', async () => {
  await create({
    ...claims,
    replicas: 2,
    persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
  })
  await fixture.until(() => isReady(2), 'ready')
  const left = async (): Promise<readonly string[]> =>
    (await fixture.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name)
  await patch({ replicas: 1 })
  await fixture.until(async () => (await left()).join() === 'data-db-0', 'claim of the pod scaled away is gone')
  await fixture.api.delete(StatefulSet, { name: 'db' })
  await fixture.until(async () => (await left()).length === 0, 'all claims are gone')
  expect(await names()).toEqual([])
})
