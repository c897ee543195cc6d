/** Tests that lists of metadata, which a real API server sends as protobuf, equal its JSON. */
import type { Kind, KubeObject, OwnerReference, Stored } from '@tenure/kube'
import { defineKind, mergePatch, metadataOf } from '@tenure/kube'
import { ConfigMap, Namespace } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type Connected, connect, connectWith } from './support/connect.ts'
import { type CustomResource, customResource } from './support/custom-resource.ts'
import { type TestNamespace, createNamespace } from './support/namespace.ts'
import { ObservedInformer } from './support/observed-informer.ts'

let connection: Connected
let client: Connected['client']
let home: TestNamespace
let namespace: string
let widgets: CustomResource<KubeObject>
/** Existing owners: objects with missing owners are garbage-collected. */
let owners: readonly OwnerReference[]

const OBJECTS = 150

beforeAll(async () => {
  connection = await connect(workerKubeconfig(), { client: { fieldManager: 'list-test' } })
  client = connection.client
  home = await createNamespace(client, 'metadata-lists')
  namespace = home.name
  widgets = customResource(client, { kind: 'Widget' })
  await widgets.install()
  owners = [
    { ...(await ownerOf(namespace)), controller: true, blockOwnerDeletion: false },
    { ...(await ownerOf('default')), controller: false },
  ]
  for (let index = 0; index < OBJECTS; index++) {
    await Promise.all([create(ConfigMap, index), create(widgets.kind, index)])
  }
})

afterAll(async () => {
  for (const kind of [ConfigMap, widgets.kind]) {
    const { items } = await client.list(kind, { namespace })
    for (const { metadata } of items) {
      if (metadata.finalizers) await client.patch(kind, metadata, mergePatch({ metadata: { finalizers: null } }))
    }
  }
  await Promise.all([widgets.uninstall(), home.remove()])
  await connection.close()
})

async function ownerOf(name: string): Promise<OwnerReference> {
  const { apiVersion, kind, metadata } = await client.get(Namespace, { name })
  return { apiVersion, kind, name, uid: metadata.uid }
}

/** Creates an object whose metadata differs from the others in every field. */
async function create(kind: Kind, index: number): Promise<void> {
  const has = (every: number): boolean => index % every === 0
  const { metadata } = await client.create(kind, {
    metadata: {
      ...(has(3) ? { generateName: 'made-' } : { name: `object-${index}` }),
      namespace,
      ...(has(2) && { labels: { app: 'web', index: String(index), empty: '' } }),
      ...(has(4) && { annotations: { empty: '', text: 'grüße 🦀\n"]}', long: 'ü'.repeat(index * 100) } }),
      ...(has(5) && { ownerReferences: owners.slice(index % 2) }),
      ...(has(7) && { finalizers: ['example.dev/stays', 'example.dev/too'] }),
    },
  })
  const ref = { name: metadata.name, namespace }
  if (has(2)) {
    const applied = { ...ref, annotations: { 'example.dev/applied': '1' } }
    await client.apply(kind, { metadata: applied }, { fieldManager: 'somebody-else' })
  }
  if (kind.kind === 'Widget' && has(6)) {
    await client.patch(kind, ref, mergePatch({ status: { ready: true } }), { subresource: 'status' })
    await client.patch(kind, ref, mergePatch({ spec: { size: index } }))
  }
  if (has(14)) await client.delete(kind, ref)
}

type Items = readonly Stored<KubeObject>[]

/** Returns a list as JSON, and a function that streams the same state, because other clients write concurrently. */
async function listed(
  kind: Kind,
): Promise<{ items: Items; stream(managedFieldsOf?: readonly string[]): Promise<Items> }> {
  const { items, metadata } = await client.list(kind, { namespace })
  expect(contentType()).toBe('application/json')
  const { resourceVersion } = metadata
  const stream = async (managedFieldsOf?: readonly string[]): Promise<Items> => {
    const options = { namespace, resourceVersion, resourceVersionMatch: 'Exact', managedFieldsOf } as const
    const list = client.streamList(kind, options)
    const streamed: Stored<KubeObject>[] = []
    for await (const batch of list) streamed.push(...batch)
    expect(list.metadata?.resourceVersion).toBe(resourceVersion)
    return streamed
  }
  return { items, stream }
}

/** Returns the content type of the last list response. */
function contentType(): unknown {
  return connection.responses.findLast(({ verb }) => verb === 'list')?.headers['content-type']
}

describe.each([
  ['a built-in kind', (): Kind => ConfigMap],
  ['a custom kind', (): Kind => widgets.kind],
  ['a cluster-scoped kind', (): Kind => Namespace],
])('a list of metadata of %s', (_what, kindOf) => {
  test('the protobuf list equals the JSON list', async () => {
    const { items, stream } = await listed(metadataOf(kindOf()))
    expect(await stream()).toStrictEqual(items)
    expect(contentType()).toBe('application/vnd.kubernetes.protobuf')
    expect(items.length).toBeGreaterThan(kindOf().namespaced ? OBJECTS - 1 : 0)
  })

  test('a metadata list has only the requested managedFields', async () => {
    const { items, stream } = await listed(metadataOf(kindOf()))
    for (const wanted of [[], ['somebody-else'], ['list-test', 'somebody-else']]) {
      expect(await stream(wanted)).toStrictEqual(items.map((item) => withManagedFieldsOf(item, wanted)))
    }
  })
})

test('a list of whole objects omits only the managedFields that are not requested', async () => {
  for (const kind of [ConfigMap, widgets.kind]) {
    const { items, stream } = await listed(kind)
    expect(await stream()).toStrictEqual(items)
    for (const wanted of [[], ['somebody-else']]) {
      const expected = items.map((item) => withManagedFieldsOf(item, wanted))
      // Keeping the managedFields of other managers is allowed.
      expect((await stream(wanted)).map((item) => withManagedFieldsOf(item, wanted))).toStrictEqual(expected)
    }
  }
})

function withManagedFieldsOf(item: Stored<KubeObject>, managers: readonly string[]): object {
  const { managedFields = [], ...metadata } = item.metadata
  const kept = managedFields.filter(({ manager = '' }) => managers.includes(manager))
  return { ...item, metadata: kept.length > 0 ? { ...metadata, managedFields: kept } : metadata }
}

/** Returns the errors of a streamed and a paged list; the server writes both in JSON. */
async function refusals(api: Connected['client'], kind: Kind, token?: string): Promise<readonly unknown[]> {
  const options = { namespace, ...(token && { continue: token }) }
  const calls = [
    api.streamList(metadataOf(kind), options)[Symbol.asyncIterator]().next(),
    api.list(metadataOf(kind), options),
  ]
  return Promise.all(calls.map((call) => call.catch((error: unknown) => error)))
}

function expectSame(errors: readonly unknown[], expected: object): void {
  for (const error of errors) {
    expect(error).toMatchObject(expected)
    expect(error).toEqual(errors[0])
    expect(error).toHaveProperty('message', (errors[0] as Error).message)
  }
}

describe('an error of a metadata list', () => {
  test('a missing permission gives the same error in every representation', async () => {
    const config = { ...connection.config, impersonate: { user: 'unprivileged', groups: [] } }
    const unprivileged = connectWith(config, { client: { retry: { attempts: 1 } } })
    try {
      const errors = await refusals(unprivileged.client, ConfigMap)
      expectSame(errors, { status: 403, reason: 'Forbidden', details: { kind: 'configmaps' } })
    } finally {
      await unprivileged.close()
    }
  })

  test('an invalid token gives the same error in every representation', async () => {
    expectSame(await refusals(client, ConfigMap, 'rubbish'), { status: 400, reason: 'BadRequest' })
  })

  test('an unknown kind gives the same error in every representation', async () => {
    const unknown = defineKind({ apiVersion: `${widgets.kind.group}/v1`, kind: 'Nothing' })
    expectSame(await refusals(client, unknown), { status: 404, reason: 'NotFound' })
  })
})

test("an informer of metadata equals the server's state and follows it", async () => {
  for (const kind of [metadataOf(ConfigMap), metadataOf(widgets.kind)]) {
    const observed = new ObservedInformer(kind, namespace, { api: client })
    try {
      await observed.whenSynced()
      expect(contentType()).toBe('application/vnd.kubernetes.protobuf')
      await observed.expectEqualTo(client)
      await client.patch(
        kind,
        { name: 'object-1', namespace },
        mergePatch({ metadata: { labels: { changed: kind.kind } } }),
      )
      await observed.expectEqualTo(client)
      expect(observed.failures).toEqual([])
    } finally {
      await observed.stop()
    }
  }
})
