import { Application } from '@tenure/applications'
import { CustomResourceDefinition, Deployment } from '@tenure/kube/kinds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { InProcessFloor } from '../../floors/index.ts'
import { create, IMAGE, isGone, runApplications, whenRunning } from './support.ts'

const DEFINITION = { name: 'applications.cloudnative.elide.dev' }

// On its own control plane: the CustomResourceDefinition is shared by all tests of a cluster.
let floor: InProcessFloor
beforeAll(async () => {
  floor = await InProcessFloor.enter()
})
afterAll(() => floor.leave())

test('a deleted CustomResourceDefinition removes its Applications, and the operator installs it again', async () => {
  const { api } = floor
  const ref = { name: 'shop', namespace: await floor.namespace('definition') }
  const before = await runApplications(floor, ref.namespace)
  await create(floor, ref, { replicas: 1, image: IMAGE })
  await whenRunning(floor, ref)
  await before.stop()
  const { uid } = (await api.get(CustomResourceDefinition, DEFINITION)).metadata
  await api.delete(CustomResourceDefinition, DEFINITION)
  await floor.until('the Application is marked', async () => {
    return (await api.get(Application, ref)).metadata.deletionTimestamp !== undefined
  })

  // The definition waits for the Application, which waits for the operator: the operator must not wait for either.
  const after = await runApplications(floor, ref.namespace)
  await floor.until('the definition is another', async () => {
    const live = await api.get(CustomResourceDefinition, DEFINITION).catch(() => undefined)
    return live !== undefined && live.metadata.uid !== uid
  })
  await floor.until('the Deployment is gone', () => isGone(api.get(Deployment, ref)))
  await create(floor, ref, { replicas: 1, image: IMAGE })
  expect((await whenRunning(floor, ref)).status).toMatchObject({ readyReplicas: 1 })
  await after.stop()
})
