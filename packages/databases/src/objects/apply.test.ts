import { TestControlPlane } from '@tenure/controlplane/testing'
import { ConfigMap, Namespace, PodDisruptionBudget, Secret, Service, StatefulSet } from '@tenure/kube/kinds'
import { VirtualClock } from '@tenure/kube/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATOR } from '../api/names.ts'
import { ENGINES } from '../engines/table.ts'
import { adopted, immutableChanges, isLegacy, withLiveDefaults } from './adoption.ts'
import type { DatabaseObjects } from './database-objects.ts'
import { configFor, objectsFor } from './objects.testing.ts'

const NAMESPACE = 'nest-team-7'
const AT = { name: 'shop', namespace: NAMESPACE }

let plane: TestControlPlane
beforeAll(async () => {
  plane = await TestControlPlane.start({ clock: new VirtualClock() })
})
afterAll(() => plane.stop())

async function applyAll(objects: DatabaseObjects): Promise<void> {
  const options = { fieldManager: OPERATOR, force: true }
  await plane.client.apply(Namespace, objects.namespace, options)
  await plane.client.apply(Secret, objects.secret, options)
  await plane.client.apply(ConfigMap, objects.configMap, options)
  await plane.client.apply(Service, objects.headlessService, options)
  await plane.client.apply(Service, objects.clientService, options)
  await plane.client.apply(StatefulSet, objects.statefulSet, options)
  if (objects.podDisruptionBudget) await plane.client.apply(PodDisruptionBudget, objects.podDisruptionBudget, options)
}

async function removeAll(): Promise<void> {
  await plane.client.delete(StatefulSet, AT)
  for (const name of ['shop', 'shop-headless']) await plane.client.delete(Service, { ...AT, name })
}

const versions = Object.values(ENGINES).flatMap(({ name, layouts, isReplicated }) =>
  [...layouts.keys()].map((version) => [name, { version, ...(isReplicated && { replicas: 3 }) }] as const),
)

test.each(versions)('an API server accepts the objects of %s %j and keeps them as they are', async (engine, values) => {
  const objects = objectsFor(engine, values)
  await applyAll(objects)
  const live = plane.peek(StatefulSet, AT)
  await applyAll(objects)
  expect(plane.peek(StatefulSet, AT)?.metadata.resourceVersion).toBe(live?.metadata.resourceVersion)
  expect(live && isLegacy(live)).toBe(false)
  expect(live && immutableChanges(live, objects.statefulSet)).toEqual([])
  await removeAll()
})

test('an API server refuses the change of a field that is said to be immutable', async () => {
  await applyAll(objectsFor('redis'))
  const { statefulSet } = objectsFor('redis', { storage_class: 'fast' })
  const live = plane.peek(StatefulSet, AT)
  expect(live && immutableChanges(live, statefulSet)).toHaveLength(1)
  await expect(plane.client.apply(StatefulSet, statefulSet, { fieldManager: OPERATOR, force: true })).rejects.toThrow(
    'Forbidden',
  )
  await removeAll()
})

test('server-side apply of an adoption leaves the pod template of a legacy StatefulSet unchanged', async () => {
  await plane.client.apply(Namespace, objectsFor('postgresql').namespace, { fieldManager: OPERATOR })
  const labels = { app: 'shop', release: 'x' }
  const before = await plane.client.create(StatefulSet, {
    metadata: AT,
    spec: {
      serviceName: 'pods',
      selector: { matchLabels: { app: 'shop' } },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'pg', image: 'postgres:15.3', env: [{ name: 'POSTGRES_PASSWORD', value: 'x' }] }],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'pgdata' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } },
        },
      ],
    },
  })
  const apply = async (values: object): Promise<void> => {
    const config = withLiveDefaults(configFor('postgresql', { ...values }), before)
    const adoption = adopted(before, objectsFor('postgresql').statefulSet, config)
    if ('refused' in adoption) throw new Error(adoption.refused)
    await plane.client.apply(StatefulSet, adoption.statefulSet, { fieldManager: OPERATOR, force: true })
  }
  const live = (): StatefulSet | undefined => plane.peek(StatefulSet, AT)

  await apply({})
  expect(live()?.spec).toEqual(before.spec)
  expect(live()?.metadata?.generation).toBe(before.metadata.generation)
  expect(live()?.metadata?.labels).toMatchObject({ 'managed-by': OPERATOR })

  await apply({ image: 'postgres:15.8', memory_limit: '2Gi' })
  expect(live()?.spec?.template.spec?.containers[0]).toMatchObject({
    image: 'postgres:15.8',
    resources: { limits: { memory: '2Gi' } },
  })

  // Keys that the row no longer names: their values stay, because a removed limit would restart the pods.
  const config = withLiveDefaults(configFor('postgresql'), live() ?? before)
  const adoption = adopted(live() ?? before, objectsFor('postgresql').statefulSet, config)
  if ('refused' in adoption) throw new Error(adoption.refused)
  await plane.client.apply(StatefulSet, adoption.statefulSet, { fieldManager: OPERATOR, force: true })
  expect(live()?.spec?.template.spec?.containers[0]).toMatchObject({
    image: 'postgres:15.8',
    resources: { limits: { memory: '2Gi' } },
  })
  await plane.client.delete(StatefulSet, AT)
})
