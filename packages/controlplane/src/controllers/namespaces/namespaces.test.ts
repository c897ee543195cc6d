import { mergePatch } from '@tenure/kube'
import { ConfigMap, Namespace, Pod, ServiceAccount, StorageClass } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlaneFixture } from '../fixture.testing.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

test('a new cluster has namespaces, a StorageClass, and a ServiceAccount and a CA in each namespace', async () => {
  const namespaces = (await fixture.list(Namespace)).map(({ metadata }) => metadata.name).toSorted()
  expect(namespaces).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  expect((await fixture.get(StorageClass, 'standard'))?.metadata.annotations).toMatchObject({
    'storageclass.kubernetes.io/is-default-class': 'true',
  })
  for (const name of namespaces) {
    expect(await fixture.get(ServiceAccount, 'default', name)).toBeDefined()
    expect((await fixture.get(ConfigMap, 'kube-root-ca.crt', name))?.data?.['ca.crt']).toMatch(/BEGIN CERTIFICATE/)
  }
})

test('a deleted ServiceAccount and a changed CA are restored', async () => {
  await fixture.api.delete(ServiceAccount, { name: 'default' })
  await fixture.api.patch(ConfigMap, { name: 'kube-root-ca.crt' }, mergePatch({ data: { 'ca.crt': 'forged' } }))
  await fixture.settle()
  expect(await fixture.get(ServiceAccount, 'default')).toBeDefined()
  expect((await fixture.get(ConfigMap, 'kube-root-ca.crt'))?.data?.['ca.crt']).toMatch(/BEGIN CERTIFICATE/)
})

test('a deleted namespace is removed after its content, with graceful deletion of pods', async () => {
  await fixture.api.create<Namespace>(Namespace, { metadata: { name: 'temporary' } })
  await fixture.until(async () => (await fixture.get(ServiceAccount, 'default', 'temporary')) !== undefined, 'ready')
  await fixture.api.create<Pod>(Pod, {
    metadata: { name: 'pod', namespace: 'temporary' },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  })
  await fixture.until(async () => (await fixture.get(Pod, 'pod', 'temporary'))?.status?.phase === 'Running', 'running')
  await fixture.api.delete(Namespace, { name: 'temporary' })
  expect((await fixture.get(Namespace, 'temporary'))?.status?.phase).toBe('Terminating')
  await fixture.until(async () => (await fixture.get(Namespace, 'temporary')) === undefined, 'gone')
  expect(await fixture.list(Pod, undefined, 'temporary')).toEqual([])
})

test('the pods of a deleted namespace are gone before its other content is deleted', async () => {
  await fixture.api.create<Namespace>(Namespace, { metadata: { name: 'temporary' } })
  await fixture.until(async () => (await fixture.get(ServiceAccount, 'default', 'temporary')) !== undefined, 'ready')
  await fixture.api.create<ConfigMap>(ConfigMap, { metadata: { name: 'settings', namespace: 'temporary' } })
  await fixture.api.create<Pod>(Pod, {
    metadata: { name: 'pod', namespace: 'temporary', finalizers: ['example.dev/hold'] },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  })
  await fixture.until(async () => (await fixture.get(Pod, 'pod', 'temporary'))?.status?.phase === 'Running', 'running')
  await fixture.api.delete(Namespace, { name: 'temporary' })
  await fixture.clock.advance(60_000)
  expect((await fixture.get(Pod, 'pod', 'temporary'))?.metadata.deletionTimestamp).toBeDefined()
  expect(await fixture.get(ConfigMap, 'settings', 'temporary')).toBeDefined()
  const release = mergePatch({ metadata: { finalizers: null } })
  await fixture.api.patch(Pod, { name: 'pod', namespace: 'temporary' }, release)
  await fixture.until(async () => (await fixture.get(Namespace, 'temporary')) === undefined, 'gone')
})

test('the conditions of a terminating namespace name the remaining content and finalizers', async () => {
  await fixture.api.create<Namespace>(Namespace, { metadata: { name: 'stuck' } })
  await fixture.api.create<ConfigMap>(ConfigMap, {
    metadata: { name: 'held', namespace: 'stuck', finalizers: ['example.dev/hold'] },
  })
  await fixture.api.delete(Namespace, { name: 'stuck' })
  const conditions = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      ((await fixture.get(Namespace, 'stuck'))?.status?.conditions ?? []).map(
        ({ message = '', reason, status, type }) => [type, `${status} ${reason}: ${message}`],
      ),
    )
  await fixture.until(
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
  const { revision } = fixture.plane.storage
  await fixture.clock.advance(60_000)
  expect(fixture.plane.storage.revision).toBe(revision)
  await fixture.api.patch(
    ConfigMap,
    { name: 'held', namespace: 'stuck' },
    mergePatch({ metadata: { finalizers: null } }),
  )
  await fixture.until(async () => (await fixture.get(Namespace, 'stuck')) === undefined, 'gone')
})
