/** Tests the client's deletions on a real API server. */
import type { DeleteOptions, KubeObject, ObjectRef, Stored } from '@tenure/kube'
import { isConflict, isNotFound, jsonPatch, keyOf, mergePatch, metadataOf } from '@tenure/kube'
import { ConfigMap, Deployment, Namespace, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { removeFinalizer } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type Connected, connect } from './support/connect.ts'
import { deployment } from './support/deployment.ts'
import { type TestNamespace, createNamespace } from './support/namespace.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 50 }
const FINALIZER = 'tenure.test/held'

let connection: Connected
let client: Connected['client']
let home: TestNamespace
let namespace: string

beforeAll(async () => {
  connection = await connect(workerKubeconfig())
  client = connection.client
  home = await createNamespace(client, 'deletion-test')
  namespace = home.name
})

afterAll(async () => {
  await home.remove()
  await connection.close()
})

const named = (name: string): { name: string; namespace: string } => ({ name, namespace })
const ifStill = ({ metadata: { uid, resourceVersion } }: Stored<KubeObject>): DeleteOptions => ({
  preconditions: { uid, resourceVersion },
})
const setsOf = async (name: string): Promise<readonly Stored<ReplicaSet>[]> =>
  (await client.list(ReplicaSet, { namespace, labelSelector: `app=${name}` })).items
const isDeployed = async (name: string): Promise<boolean> =>
  (await client.list(Deployment, { namespace, fieldSelector: `metadata.name=${name}` })).items.length > 0

async function deploy(name: string): Promise<string> {
  const { metadata } = await client.create(Deployment, deployment(namespace, name, 1))
  await expect.poll(async () => (await setsOf(name)).length, POLL_OPTIONS).toBe(1)
  return metadata.uid
}

async function isThere(ref: ObjectRef): Promise<boolean> {
  try {
    await client.get(ConfigMap, ref)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/**
 * Removes our finalizer from a ReplicaSet. Returns false if the garbage collector, which removes its own finalizer,
 * changed it first.
 */
async function release(name: string): Promise<boolean> {
  try {
    await removeFinalizer(client, ReplicaSet, await client.get(ReplicaSet, named(name)), FINALIZER)
    return true
  } catch (error) {
    if (isConflict(error)) return false
    throw error
  }
}

describe('preconditions', () => {
  test('a wrong uid is a conflict and the object stays', async () => {
    const { metadata } = await client.create(ConfigMap, { metadata: named('uid') })
    const wrong = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } }
    const refused = client.delete(ConfigMap, named('uid'), wrong)
    await expect(refused).rejects.toSatisfy(isConflict)
    await expect(refused).rejects.toMatchObject({ status: 409, message: expect.stringContaining(metadata.uid) })
    expect(await isThere(named('uid'))).toBe(true)
    const deleted = await client.delete(ConfigMap, named('uid'), { preconditions: { uid: metadata.uid } })
    expect(deleted).toEqual({ gone: true, uid: metadata.uid })
    expect(await isThere(named('uid'))).toBe(false)
  })

  test('an outdated resourceVersion is a conflict and the object stays', async () => {
    const first = await client.create(ConfigMap, { metadata: named('version') })
    const second = await client.patch(ConfigMap, named('version'), mergePatch({ data: { v: '2' } }))
    await expect(client.delete(ConfigMap, named('version'), ifStill(first))).rejects.toSatisfy(isConflict)
    expect(await client.get(ConfigMap, named('version'))).toEqual(second)
    expect(await client.delete(ConfigMap, named('version'), ifStill(second))).toMatchObject({ gone: true })
  })

  test("the uid of a recreated object's predecessor does not delete the new object", async () => {
    const old = await client.create(ConfigMap, { metadata: named('recreated') })
    await client.delete(ConfigMap, named('recreated'))
    const fresh = await client.create(ConfigMap, { metadata: named('recreated') })
    const refused = client.delete(ConfigMap, named('recreated'), { preconditions: { uid: old.metadata.uid } })
    await expect(refused).rejects.toSatisfy(isConflict)
    expect(await client.get(ConfigMap, named('recreated'))).toEqual(fresh)
  })

  test('deleting a missing object is NotFound', async () => {
    await expect(client.delete(ConfigMap, named('missing'))).rejects.toMatchObject({ status: 404 })
  })
})

describe('a deletion that takes time', () => {
  test('an object with a finalizer stays until that is removed, and observers see both steps', async () => {
    const received: string[] = []
    const end = client.observeWrites({
      written: (_, { metadata }) =>
        received.push(`${metadata.name} ${metadata.deletionTimestamp ? 'ending' : 'written'}`),
      deleted: (_, { name }, uid) => received.push(`${name} ${uid} gone`),
    })
    const metadata = { ...named('held'), finalizers: [FINALIZER] }
    const created = await client.create(ConfigMap, { metadata, data: { a: '1' } })
    const deleted = await client.delete(ConfigMap, named('held'))
    expect(deleted).toMatchObject({ gone: false, object: { kind: 'ConfigMap', data: { a: '1' } } })
    const { object } = deleted as { object: Stored<ConfigMap> }
    expect(Date.parse(object.metadata.deletionTimestamp ?? '')).toBeLessThanOrEqual(Date.now())
    expect(await client.get(ConfigMap, named('held'))).toEqual(object)
    // A second delete has the same result.
    expect(await client.delete(metadataOf(ConfigMap), named('held'))).toEqual({
      gone: false,
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: object.metadata },
    })
    await client.patch(ConfigMap, named('held'), jsonPatch([{ op: 'remove', path: '/metadata/finalizers' }]))
    expect(await isThere(named('held'))).toBe(false)
    end()
    const { uid } = created.metadata
    expect(received).toEqual(['held written', 'held ending', 'held ending', `held ${uid} gone`])
  })

  test('a pod on a node keeps its grace period', async () => {
    await client.create(Pod, {
      metadata: named('graceful'),
      spec: { containers: [{ name: 'web', image: 'example.test/web' }], terminationGracePeriodSeconds: 5 },
    })
    await expect
      .poll(async () => (await client.get(Pod, named('graceful'))).status?.phase, POLL_OPTIONS)
      .toBe('Running')
    const deleted = await client.delete(Pod, named('graceful'))
    expect(deleted).toMatchObject({ gone: false, object: { metadata: { deletionGracePeriodSeconds: 5 } } })
    await expect.poll(async () => (await client.list(Pod, { namespace })).items.length, POLL_OPTIONS).toBe(0)
  })

  test('a namespace, whose finalizers are in its spec, is reported as terminating', async () => {
    const other = await createNamespace(client, 'deletion-test-other')
    const meta = await client.delete(metadataOf(Namespace), { name: other.name }, { dryRun: true })
    expect(meta).toMatchObject({ gone: false, object: { kind: 'Namespace', metadata: { name: other.name } } })
    const deleted = await client.delete(Namespace, { name: other.name })
    expect(deleted).toMatchObject({ gone: false, object: { status: { phase: 'Terminating' } } })
  })
})

describe('propagation to the ReplicaSet of a Deployment', () => {
  test('Background deletes the ReplicaSet after the Deployment', async () => {
    const uid = await deploy('background')
    const deleted = await client.delete(Deployment, named('background'), { propagation: 'Background' })
    expect(deleted).toEqual({ gone: true, uid })
    expect(await isDeployed('background')).toBe(false)
    await expect.poll(() => setsOf('background'), POLL_OPTIONS).toEqual([])
  })

  test('Foreground deletes the ReplicaSet before the Deployment', async () => {
    await deploy('foreground')
    // A finalizer holds the ReplicaSet, so that the intermediate state can be observed.
    const [set] = await setsOf('foreground')
    const name = set?.metadata.name ?? ''
    await client.patch(ReplicaSet, named(name), mergePatch({ metadata: { finalizers: [FINALIZER] } }))
    const deleted = await client.delete(Deployment, named('foreground'), { propagation: 'Foreground' })
    expect(deleted).toMatchObject({ gone: false, object: { metadata: { finalizers: ['foregroundDeletion'] } } })
    await expect
      .poll(async () => (await client.get(ReplicaSet, named(name))).metadata.deletionTimestamp, POLL_OPTIONS)
      .toBeDefined()
    expect(await isDeployed('foreground')).toBe(true)
    await expect.poll(() => release(name), POLL_OPTIONS).toBe(true)
    await expect.poll(() => isDeployed('foreground'), POLL_OPTIONS).toBe(false)
    expect(await setsOf('foreground')).toEqual([])
  })

  test('Orphan keeps the ReplicaSet without an owner', async () => {
    await deploy('orphan')
    const deleted = await client.delete(Deployment, named('orphan'), { propagation: 'Orphan' })
    expect(deleted).toMatchObject({ gone: false, object: { metadata: { finalizers: ['orphan'] } } })
    await expect.poll(() => isDeployed('orphan'), POLL_OPTIONS).toBe(false)
    const [set, ...others] = await setsOf('orphan')
    expect(others).toEqual([])
    expect(set?.metadata.ownerReferences ?? []).toEqual([])
  })
})

describe('deleteCollection', () => {
  test('deleteCollection deletes only the selected objects', async () => {
    const make = (name: string, colour: string): Promise<Stored<KubeObject>> =>
      client.create(ConfigMap, { metadata: { ...named(name), labels: { colour } } })
    await Promise.all([make('red-1', 'red'), make('red-2', 'red'), make('blue', 'blue')])
    await client.deleteCollection(ConfigMap, { namespace, labelSelector: 'colour=red' })
    const left = await client.list(ConfigMap, { namespace, labelSelector: 'colour' })
    expect(left.items.map(({ metadata }) => keyOf(metadata))).toEqual([`${namespace}/blue`])
    // An empty selection is not an error.
    await client.deleteCollection(ConfigMap, { namespace, labelSelector: 'colour=red' })
  })

  test('deleteCollection without a namespace is rejected before it is sent', async () => {
    const sent = connection.responses.length
    await expect(client.deleteCollection(ConfigMap, { labelSelector: 'colour' })).rejects.toMatchObject({
      code: 'TENURE_NAMESPACE_MISSING',
    })
    expect(connection.responses).toHaveLength(sent)
  })
})
