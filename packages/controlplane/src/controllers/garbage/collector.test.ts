import { defineKind, type KubeObject, mergePatch, type OwnerReference } from '@tenure/kube'
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { World } from '../fixture.testing.ts'

let world: World
beforeEach(async () => {
  world = await World.start()
})
afterEach(() => world.end())

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
): ReturnType<typeof world.api.create<ConfigMap>> =>
  world.api.create<ConfigMap>(ConfigMap, { metadata: { name, ownerReferences, ...more } })
const names = async (): Promise<readonly string[]> =>
  (await world.list(ConfigMap))
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt')
    .toSorted()

test('what depends on a deleted object goes with it, to the last generation', async () => {
  const top = await map('top')
  const middle = await map('middle', [owner(top, 'ConfigMap', 'v1')])
  await map('bottom', [owner(middle, 'ConfigMap', 'v1')])
  await map('other')
  await world.api.delete(ConfigMap, { name: 'top' })
  await world.settle()
  expect(await names()).toEqual(['other'])
})

test('an object with several owners stays until the last is gone, and forgets the others', async () => {
  const a = await map('a')
  const b = await map('b')
  await map('shared', [owner(a, 'ConfigMap', 'v1'), owner(b, 'ConfigMap', 'v1')])
  await world.api.delete(ConfigMap, { name: 'a' })
  await world.until(
    async () => (await world.get(ConfigMap, 'shared'))?.metadata.ownerReferences?.length === 1,
    'one reference less',
  )
  expect((await world.get(ConfigMap, 'shared'))?.metadata.ownerReferences?.[0]?.name).toBe('b')
  await world.api.delete(ConfigMap, { name: 'b' })
  await world.until(async () => (await names()).length === 0, 'gone')
})

test('an owner that is not there, or is another under its name, owns nothing', async () => {
  const there = await map('there')
  await map('wrong', [{ ...owner(there, 'ConfigMap', 'v1'), uid: '00000000-0000-0000-0000-000000000001' }])
  await map('absent', [
    { apiVersion: 'v1', kind: 'Secret', name: 'never', uid: '00000000-0000-0000-0000-000000000002' },
  ])
  await map('right', [owner(there, 'ConfigMap', 'v1')])
  await world.settle()
  expect(await names()).toEqual(['right', 'there'])
})

test('an owner of an unknown kind is not taken for gone', async () => {
  await map('puzzle', [
    { apiVersion: 'example.dev/v1', kind: 'Gadget', name: 'x', uid: '00000000-0000-0000-0000-000000000003' },
  ])
  await world.clock.advance(60_000)
  expect(await names()).toEqual(['puzzle'])
})

test('what is not there at one place is not taken for gone at another', async () => {
  const uid = '00000000-0000-0000-0000-000000000004'
  await map('absent', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid }])
  await map('puzzle', [{ apiVersion: 'example.dev/v1', kind: 'Gadget', name: 'x', uid }])
  await world.clock.advance(60_000)
  expect(await names()).toEqual(['puzzle'])
})

test('a reference means what is at its place, and not what only has its uid', async () => {
  const there = await map('there')
  await map('of-a-secret', [owner(there, 'Secret', 'v1')])
  await map('of-another', [{ ...owner(there, 'ConfigMap', 'v1'), name: 'elsewhere' }])
  await map('right', [owner(there, 'ConfigMap', 'v1')])
  await world.settle()
  expect(await names()).toEqual(['right', 'there'])
})

test('what has no namespace is not owned by what has one, and outlives it', async () => {
  const there = await map('there')
  await world.api.create<Namespace>(Namespace, {
    metadata: { name: 'wide', ownerReferences: [owner(there, 'ConfigMap', 'v1')] },
  })
  await map('owned', [owner(there, 'ConfigMap', 'v1')])
  await world.settle()
  await world.api.delete(ConfigMap, { name: 'there' })
  await world.until(async () => (await names()).length === 0, 'gone')
  await world.clock.advance(60_000)
  const wide = (await world.list(Namespace)).find(({ metadata }) => metadata.name === 'wide')
  expect(wide?.metadata.deletionTimestamp).toBeUndefined()
  expect(wide).toBeDefined()
})

test('a cluster-scoped owner takes what it owns in namespaces', async () => {
  const space = await world.api.create<Namespace>(Namespace, { metadata: { name: 'owner' } })
  await map('owned', [owner(space, 'Namespace', 'v1')])
  await world.settle()
  expect(await names()).toEqual(['owned'])
  await world.api.delete(Namespace, { name: 'owner' })
  await world.until(async () => (await names()).length === 0, 'gone')
})

test('in the foreground the owner waits for those that block it, and for those only', async () => {
  const top = await map('top')
  await map('blocks', [owner(top, 'ConfigMap', 'v1', { blockOwnerDeletion: true })], {
    finalizers: ['example.dev/hold'],
  })
  await map('does-not', [owner(top, 'ConfigMap', 'v1')], { finalizers: ['example.dev/hold'] })
  await world.settle()
  await world.api.delete(ConfigMap, { name: 'top' }, { propagation: 'Foreground' })
  await world.settle()
  const waiting = await world.list(ConfigMap)
  expect(
    waiting
      .filter(({ metadata }) => metadata.deletionTimestamp)
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  ).toEqual(['blocks', 'does-not', 'top'])
  await world.api.patch(ConfigMap, { name: 'blocks' }, mergePatch({ metadata: { finalizers: null } }))
  await world.until(async () => (await names()).join() === 'does-not', 'the owner went')
})

test('owners in a circle do not wait for one another', async () => {
  const first = await map('first')
  const blocking = { blockOwnerDeletion: true }
  const second = await map('second', [owner(first, 'ConfigMap', 'v1', blocking)])
  const third = await map('third', [owner(second, 'ConfigMap', 'v1', blocking)])
  const ownerReferences = [owner(third, 'ConfigMap', 'v1', blocking)]
  await world.api.patch(ConfigMap, first.metadata, mergePatch({ metadata: { ownerReferences } }))
  await world.api.delete(ConfigMap, first.metadata, { propagation: 'Foreground' })
  await world.settle()
  expect(await names()).toEqual([])
})

test('a Deployment deleted in the foreground goes after its pods; orphaned, its ReplicaSet stays', async () => {
  await world.deployment('web', { replicas: 2 })
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  await world.api.delete(Deployment, { name: 'web' }, { propagation: 'Foreground' })
  let podsWhenGone = -1
  await world.until(async () => {
    const pods = (await world.list(Pod)).length
    if ((await world.get(Deployment, 'web')) !== undefined) return false
    podsWhenGone = pods
    return true
  }, 'gone')
  expect(podsWhenGone).toBe(0)
  await world.deployment('web', { replicas: 2 })
  await world.until(() => world.isRolledOut('web'), 'rolled out again')
  await world.api.delete(Deployment, { name: 'web' }, { propagation: 'Orphan' })
  await world.until(async () => (await world.get(Deployment, 'web')) === undefined, 'gone')
  await world.settle()
  const sets = await world.list(ReplicaSet)
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

test('kinds that come own from then on, and take what they own along when they go', async () => {
  for (const round of [1, 2]) {
    await world.api.create<CustomResourceDefinition>(CustomResourceDefinition, gadgets)
    await world.until(async () => {
      const crd = await world.get(CustomResourceDefinition, 'gadgets.example.dev')
      return crd?.status?.conditions?.some(({ status, type }) => type === 'Established' && status === 'True') ?? false
    }, 'established')
    const gadget = await world.api.create(Gadget, { metadata: { name: 'one' } })
    await map('of-gadget', [owner(gadget, 'Gadget', 'example.dev/v1')])
    await world.api.create(Gadget, {
      metadata: { name: 'two', ownerReferences: [owner(gadget, 'Gadget', 'example.dev/v1')] },
    })
    await world.clock.advance(10_000)
    expect(await names()).toEqual(['of-gadget'])
    if (round === 1) await world.api.delete(Gadget, { name: 'one' })
    else await world.api.delete(CustomResourceDefinition, { name: 'gadgets.example.dev' })
    await world.until(async () => (await names()).length === 0, `round ${round}: gone`)
    if (round === 2) break
    await world.until(async () => (await world.list(Gadget)).length === 0, 'the other too')
    await world.api.delete(CustomResourceDefinition, { name: 'gadgets.example.dev' })
    await world.until(
      async () => (await world.get(CustomResourceDefinition, 'gadgets.example.dev')) === undefined,
      'kind gone',
    )
    await world.clock.advance(10_000)
  }
})
