import { mergePatch } from '@tenure/kube'
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { template, World } from '../fixture.testing.ts'

let world: World
beforeEach(async () => {
  world = await World.start()
})
afterEach(() => world.end())

const create = (spec: Partial<NonNullable<StatefulSet['spec']>> = {}): Promise<unknown> =>
  world.api.create<StatefulSet>(StatefulSet, {
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: template('db'),
      ...spec,
    },
  })
const patch = (spec: object): Promise<unknown> => world.api.patch(StatefulSet, { name: 'db' }, mergePatch({ spec }))
const names = async (): Promise<readonly string[]> =>
  (await world.pods('app=db')).map(({ metadata }) => metadata.name).toSorted()
const isReady = async (count: number): Promise<boolean> => {
  const status = (await world.get(StatefulSet, 'db'))?.status
  return status?.readyReplicas === count && status.replicas === count
}
const images = async (): Promise<readonly (string | undefined)[]> =>
  (await world.pods('app=db'))
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

test('pods are made in order, each with its claim, and go in reverse', async () => {
  await create(claims)
  const seen: string[] = []
  const watchOrder = async (done: () => Promise<boolean>): Promise<void> =>
    world.until(async () => {
      const now = (await names()).join(' ')
      if (seen.at(-1) !== now) seen.push(now)
      return done()
    }, 'settled')
  await watchOrder(() => isReady(3))
  const [first] = await world.pods('statefulset.kubernetes.io/pod-name=db-0')
  expect(first?.metadata.labels).toMatchObject({ app: 'db', 'apps.kubernetes.io/pod-index': '0' })
  expect(first?.spec).toMatchObject({ hostname: 'db-0', subdomain: 'db' })
  expect(first?.spec?.volumes?.[0]).toEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } })
  await patch({ replicas: 1 })
  await watchOrder(() => isReady(1))
  expect(seen.filter(Boolean)).toEqual(['db-0', 'db-0 db-1', 'db-0 db-1 db-2', 'db-0 db-1', 'db-0'])
  const left = await world.list(PersistentVolumeClaim)
  expect(left.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).toSorted()).toEqual([
    'data-db-0 Bound',
    'data-db-1 Bound',
    'data-db-2 Bound',
  ])
})

test('Parallel makes all at once', async () => {
  await create({ podManagementPolicy: 'Parallel' })
  await world.until(async () => (await names()).length > 0, 'made')
  expect(await names()).toEqual(['db-0', 'db-1', 'db-2'])
})

test('an update goes from the last to the partition, one at a time, and moves the current revision when all is done', async () => {
  await create()
  await world.until(() => isReady(3), 'ready')
  await world.settle()
  const before = (await world.get(StatefulSet, 'db'))?.status
  expect(before?.currentRevision).toBe(before?.updateRevision)
  await patch({ template: template('db', 'app:2'), updateStrategy: { rollingUpdate: { partition: 2 } } })
  let fewest = 3
  await world.until(async () => {
    const status = (await world.get(StatefulSet, 'db'))?.status
    fewest = Math.min(fewest, status?.readyReplicas ?? 0)
    return status?.updatedReplicas === 1 && status.readyReplicas === 3
  }, 'one updated')
  await world.settle()
  expect(await images()).toEqual(['app:1', 'app:1', 'app:2'])
  expect((await world.get(StatefulSet, 'db'))?.status).toMatchObject({
    currentReplicas: 2,
    updatedReplicas: 1,
    currentRevision: before?.currentRevision,
  })
  await patch({ updateStrategy: { rollingUpdate: { partition: 0 } } })
  await world.until(
    async () => (await images()).every((image) => image === 'app:2') && (await isReady(3)),
    'all updated',
  )
  await world.settle()
  const after = (await world.get(StatefulSet, 'db'))?.status
  expect(after?.currentRevision).toBe(after?.updateRevision)
  expect(after?.currentRevision).not.toBe(before?.currentRevision)
  expect(fewest).toBe(2)
  expect((await world.list(ControllerRevision)).map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual([
    1, 2,
  ])
})

test('OnDelete updates a pod only when somebody deletes it', async () => {
  await create({ replicas: 2, updateStrategy: { type: 'OnDelete' } })
  await world.until(() => isReady(2), 'ready')
  await patch({ template: template('db', 'app:2') })
  await world.settle()
  expect(await images()).toEqual(['app:1', 'app:1'])
  await world.api.delete(Pod, { name: 'db-0' })
  await world.until(async () => (await images())[0] === 'app:2' && (await isReady(2)), 'replaced')
  expect(await images()).toEqual(['app:2', 'app:1'])
})

test('claims go with what the retention policy says', async () => {
  await create({
    ...claims,
    replicas: 2,
    persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
  })
  await world.until(() => isReady(2), 'ready')
  const left = async (): Promise<readonly string[]> =>
    (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name)
  await patch({ replicas: 1 })
  await world.until(async () => (await left()).join() === 'data-db-0', 'claim of the pod scaled away is gone')
  await world.api.delete(StatefulSet, { name: 'db' })
  await world.until(async () => (await left()).length === 0, 'all claims are gone')
  expect(await names()).toEqual([])
})
