import { mergePatch } from '@tenure/kube'
import { ConfigMap, Namespace, Pod, ServiceAccount, StorageClass } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { World } from '../fixture.testing.ts'

let world: World
beforeEach(async () => {
  world = await World.start()
})
afterEach(() => world.end())

test('a cluster begins with its namespaces, a storage class, and an account and a CA in each namespace', async () => {
  const namespaces = (await world.list(Namespace)).map(({ metadata }) => metadata.name).toSorted()
  expect(namespaces).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  expect((await world.get(StorageClass, 'standard'))?.metadata.annotations).toMatchObject({
    'storageclass.kubernetes.io/is-default-class': 'true',
  })
  for (const name of namespaces) {
    expect(await world.get(ServiceAccount, 'default', name)).toBeDefined()
    expect((await world.get(ConfigMap, 'kube-root-ca.crt', name))?.data?.['ca.crt']).toMatch(/BEGIN CERTIFICATE/)
  }
})

test('what every namespace has is put back', async () => {
  await world.api.delete(ServiceAccount, { name: 'default' })
  await world.api.patch(ConfigMap, { name: 'kube-root-ca.crt' }, mergePatch({ data: { 'ca.crt': 'forged' } }))
  await world.settle()
  expect(await world.get(ServiceAccount, 'default')).toBeDefined()
  expect((await world.get(ConfigMap, 'kube-root-ca.crt'))?.data?.['ca.crt']).toMatch(/BEGIN CERTIFICATE/)
})

test('a deleted namespace is emptied, pods with grace, and then goes', async () => {
  await world.api.create<Namespace>(Namespace, { metadata: { name: 'temporary' } })
  await world.until(async () => (await world.get(ServiceAccount, 'default', 'temporary')) !== undefined, 'ready')
  await world.api.create<Pod>(Pod, {
    metadata: { name: 'pod', namespace: 'temporary' },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  })
  await world.until(async () => (await world.get(Pod, 'pod', 'temporary'))?.status?.phase === 'Running', 'running')
  await world.api.delete(Namespace, { name: 'temporary' })
  expect((await world.get(Namespace, 'temporary'))?.status?.phase).toBe('Terminating')
  await world.until(async () => (await world.get(Namespace, 'temporary')) === undefined, 'gone')
  expect(await world.list(Pod, undefined, 'temporary')).toEqual([])
})

test('a namespace that can not be emptied says what is left and why', async () => {
  await world.api.create<Namespace>(Namespace, { metadata: { name: 'stuck' } })
  await world.api.create<ConfigMap>(ConfigMap, {
    metadata: { name: 'held', namespace: 'stuck', finalizers: ['example.dev/hold'] },
  })
  await world.api.delete(Namespace, { name: 'stuck' })
  const conditions = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      ((await world.get(Namespace, 'stuck'))?.status?.conditions ?? []).map(
        ({ message = '', reason, status, type }) => [type, `${status} ${reason}: ${message}`],
      ),
    )
  await world.until(
    async () => (await conditions())['NamespaceContentRemaining']?.startsWith('True') ?? false,
    'explained',
  )
  expect(await conditions()).toEqual({
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
    NamespaceDeletionContentFailure:
      'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    NamespaceContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
    NamespaceFinalizersRemaining:
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.dev/hold in 1 resource instances',
  })
  const { revision } = world.plane.storage
  await world.clock.advance(60_000)
  expect(world.plane.storage.revision).toBe(revision)
  await world.api.patch(ConfigMap, { name: 'held', namespace: 'stuck' }, mergePatch({ metadata: { finalizers: null } }))
  await world.until(async () => (await world.get(Namespace, 'stuck')) === undefined, 'gone')
})
