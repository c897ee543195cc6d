import { defineKind, type KubeObject, mergePatch, type OwnerReference } from '@tenure/kube'
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlaneFixture } from '../fixture.testing.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

const Gadget = defineKind({ apiVersion: 'example.dev/v1', kind: 'Gadget' })

const owner = (
  object: KubeObject & { readonly metadata: { readonly name: string; readonly uid: string } },
  kind: string,
  apiVersion: string,
  more: Partial<OwnerReference> = {},
): OwnerReference => ({
  apiVersion,
  kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...more,
})
const map = (
  name: string,
  ownerReferences: readonly OwnerReference[] = [],
  more: object = {},
): ReturnType<typeof fixture.api.create<ConfigMap>> =>
  fixture.api.create<ConfigMap>(ConfigMap, { metadata: { name, ownerReferences, ...more } })
const names = async (): Promise<readonly string[]> =>
  (await fixture.list(ConfigMap))
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt')
    .toSorted()

test('dependents of a deleted object are deleted recursively', async () => {
  const top = await map('top')
  const middle = await map('middle', [owner(top, 'ConfigMap', 'v1')])
  await map('bottom', [owner(middle, 'ConfigMap', 'v1')])
  await map('other')
  await fixture.api.delete(ConfigMap, { name: 'top' })
  await fixture.settle()
  expect(await names()).toEqual(['other'])
})

test('an object with several owners is deleted with the last one, and references to absent owners are removed', async () => {
  const a = await map('a')
  const b = await map('b')
  await map('shared', [owner(a, 'ConfigMap', 'v1'), owner(b, 'ConfigMap', 'v1')])
  await fixture.api.delete(ConfigMap, { name: 'a' })
  await fixture.until(
    async () => (await fixture.get(ConfigMap, 'shared'))?.metadata.ownerReferences?.length === 1,
    'one reference less',
  )
  expect((await fixture.get(ConfigMap, 'shared'))?.metadata.ownerReferences?.[0]?.name).toBe('b')
  await fixture.api.delete(ConfigMap, { name: 'b' })
  await fixture.until(async () => (await names()).length === 0, 'gone')
})

test('an object is deleted if its owner is absent or has another uid', async () => {
  const there = await map('there')
  await map('wrong', [{ ...owner(there, 'ConfigMap', 'v1'), uid: '00000000-0000-0000-0000-000000000001' }])
  await map('absent', [
    { apiVersion: 'v1', kind: 'Secret', name: 'never', uid: '00000000-0000-0000-0000-000000000002' },
  ])
  await map('right', [owner(there, 'ConfigMap', 'v1')])
  await fixture.settle()
  expect(await names()).toEqual(['right', 'there'])
})

test('an owner of an unknown kind does not count as absent', async () => {
  await map('puzzle', [
    { apiVersion: 'example.dev/v1', kind: 'Gadget', name: 'x', uid: '00000000-0000-0000-0000-000000000003' },
  ])
  await fixture.clock.advance(60_000)
  expect(await names()).toEqual(['puzzle'])
})

test('an absent owner in one namespace does not count as absent in another', async () => {
  const uid = '00000000-0000-0000-0000-000000000004'
  await map('absent', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid }])
  await map('puzzle', [{ apiVersion: 'example.dev/v1', kind: 'Gadget', name: 'x', uid }])
  await fixture.clock.advance(60_000)
  expect(await names()).toEqual(['puzzle'])
})

test('a reference must match kind, name and namespace, not only the uid', async () => {
  const there = await map('there')
  await map('of-a-secret', [owner(there, 'Secret', 'v1')])
  await map('of-another', [{ ...owner(there, 'ConfigMap', 'v1'), name: 'elsewhere' }])
  await map('right', [owner(there, 'ConfigMap', 'v1')])
  await fixture.settle()
  expect(await names()).toEqual(['right', 'there'])
})

test('a cluster-scoped object outlives a namespaced owner', async () => {
  const there = await map('there')
  await fixture.api.create<Namespace>(Namespace, {
    metadata: { name: 'wide', ownerReferences: [owner(there, 'ConfigMap', 'v1')] },
  })
  await map('owned', [owner(there, 'ConfigMap', 'v1')])
  await fixture.settle()
  await fixture.api.delete(ConfigMap, { name: 'there' })
  await fixture.until(async () => (await names()).length === 0, 'gone')
  await fixture.clock.advance(60_000)
  const wide = (await fixture.list(Namespace)).find(({ metadata }) => metadata.name === 'wide')
  expect(wide?.metadata.deletionTimestamp).toBeUndefined()
  expect(wide).toBeDefined()
})

test('namespaced dependents are deleted with a cluster-scoped owner', async () => {
  const space = await fixture.api.create<Namespace>(Namespace, { metadata: { name: 'owner' } })
  await map('owned', [owner(space, 'Namespace', 'v1')])
  await fixture.settle()
  expect(await names()).toEqual(['owned'])
  await fixture.api.delete(Namespace, { name: 'owner' })
  await fixture.until(async () => (await names()).length === 0, 'gone')
})

test('foreground deletion waits only for blocking dependents', async () => {
  const top = await map('top')
  await map('blocks', [owner(top, 'ConfigMap', 'v1', { blockOwnerDeletion: true })], {
    finalizers: ['example.dev/hold'],
  })
  await map('does-not', [owner(top, 'ConfigMap', 'v1')], { finalizers: ['example.dev/hold'] })
  await fixture.settle()
  await fixture.api.delete(ConfigMap, { name: 'top' }, { propagation: 'Foreground' })
  await fixture.settle()
  const waiting = await fixture.list(ConfigMap)
  expect(
    waiting
      .filter(({ metadata }) => metadata.deletionTimestamp)
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  ).toEqual(['blocks', 'does-not', 'top'])
  await fixture.api.patch(ConfigMap, { name: 'blocks' }, mergePatch({ metadata: { finalizers: null } }))
  await fixture.until(async () => (await names()).join() === 'does-not', 'the owner went')
})

test('foreground deletion of an ownership cycle completes', async () => {
  const first = await map('first')
  const blocking = { blockOwnerDeletion: true }
  const second = await map('second', [owner(first, 'ConfigMap', 'v1', blocking)])
  const third = await map('third', [owner(second, 'ConfigMap', 'v1', blocking)])
  const ownerReferences = [owner(third, 'ConfigMap', 'v1', blocking)]
  await fixture.api.patch(ConfigMap, first.metadata, mergePatch({ metadata: { ownerReferences } }))
  await fixture.api.delete(ConfigMap, first.metadata, { propagation: 'Foreground' })
  await fixture.settle()
  expect(await names()).toEqual([])
})

test('foreground deletion removes a Deployment after its pods, and orphan deletion keeps its ReplicaSet', async () => {
  await fixture.deployment('web', { replicas: 2 })
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  await fixture.api.delete(Deployment, { name: 'web' }, { propagation: 'Foreground' })
  let podsWhenGone = -1
  await fixture.until(async () => {
    const pods = (await fixture.list(Pod)).length
    if ((await fixture.get(Deployment, 'web')) !== undefined) return false
    podsWhenGone = pods
    return true
  }, 'gone')
  expect(podsWhenGone).toBe(0)
  await fixture.deployment('web', { replicas: 2 })
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out again')
  await fixture.api.delete(Deployment, { name: 'web' }, { propagation: 'Orphan' })
  await fixture.until(async () => (await fixture.get(Deployment, 'web')) === undefined, 'gone')
  await fixture.settle()
  const sets = await fixture.list(ReplicaSet)
  expect(sets.map(({ metadata, status }) => [metadata.ownerReferences, status?.availableReplicas])).toEqual([
    [undefined, 2],
  ])
})

const gadgets: CustomResourceDefinition = {
  metadata: { name: 'gadgets.example.dev' },
  spec: {
    group: 'example.dev',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

test('objects of new custom kinds own dependents, which are deleted with the kind', async () => {
  for (const round of [1, 2]) {
    await fixture.api.create<CustomResourceDefinition>(CustomResourceDefinition, gadgets)
    await fixture.until(async () => {
      const crd = await fixture.get(CustomResourceDefinition, 'gadgets.example.dev')
      return crd?.status?.conditions?.some(({ status, type }) => type === 'Established' && status === 'True') ?? false
    }, 'established')
    const gadget = await fixture.api.create(Gadget, { metadata: { name: 'one' } })
    await map('of-gadget', [owner(gadget, 'Gadget', 'example.dev/v1')])
    await fixture.api.create(Gadget, {
      metadata: { name: 'two', ownerReferences: [owner(gadget, 'Gadget', 'example.dev/v1')] },
    })
    await fixture.clock.advance(10_000)
    expect(await names()).toEqual(['of-gadget'])
    if (round === 1) await fixture.api.delete(Gadget, { name: 'one' })
    else await fixture.api.delete(CustomResourceDefinition, { name: 'gadgets.example.dev' })
    await fixture.until(async () => (await names()).length === 0, `round ${round}: gone`)
    if (round === 2) break
    await fixture.until(async () => (await fixture.list(Gadget)).length === 0, 'the other too')
    await fixture.api.delete(CustomResourceDefinition, { name: 'gadgets.example.dev' })
    await fixture.until(
      async () => (await fixture.get(CustomResourceDefinition, 'gadgets.example.dev')) === undefined,
      'kind gone',
    )
    await fixture.clock.advance(10_000)
  }
})
