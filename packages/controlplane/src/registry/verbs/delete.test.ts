import { expect, test } from 'vitest'
import { forbidden } from '../../errors.ts'
import { KINDS } from '../testing/catalog.ts'
import { Harness } from '../testing/harness.ts'
import type { Admission } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'

const { budget, configMap, namespace, pod } = KINDS
const MERGE = 'application/merge-patch+json'
const finalizers = (...list: readonly string[]) => ({
  name: 'a',
  patchType: MERGE,
  body: { metadata: { finalizers: list } },
})
const evict = (name: string) => ({ name, subresource: 'eviction', body: { metadata: { name } } })
const podBody = (name: string, nodeName?: string): object => ({
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...(nodeName && { nodeName }) },
})

test('an object without finalizers is removed, and the delete returns a Status', async () => {
  const harness = await Harness.start()
  const { metadata } = await harness.object('create', configMap, { body: { metadata: { name: 'a' } } })
  expect(await harness.call('delete', configMap, { name: 'a' })).toEqual({
    type: 'deleted',
    name: 'a',
    uid: metadata?.uid,
    warnings: [],
  })
  expect(await harness.failure('delete', configMap, { name: 'a' })).toMatchObject({ code: 404 })
})

test('preconditions limit a delete to one version of the object', async () => {
  const harness = await Harness.start()
  const { metadata } = await harness.object('create', configMap, { body: { metadata: { name: 'a' } } })
  const failure = await harness.failure('delete', configMap, { name: 'a', options: { preconditions: { uid: 'x' } } })
  expect(failure).toMatchObject({
    code: 409,
    message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (${metadata?.uid}). The object might have been deleted and then recreated`,
  })
})

test('finalizers keep a deleted object, none can be added, and removing the last removes it', async () => {
  const harness = await Harness.start()
  await harness.object('create', configMap, {
    body: { metadata: { name: 'a', finalizers: ['x.dev/one', 'x.dev/two'] } },
  })
  const marked = await harness.object('delete', configMap, { name: 'a' })
  expect(marked.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 })
  const { revision } = harness.storage
  await harness.clock.advance(5000)
  await harness.object('delete', configMap, { name: 'a' })
  expect(harness.storage.revision).toBe(revision)
  expect(await harness.failure('patch', configMap, finalizers('x.dev/one', 'x.dev/three'))).toMatchObject({ code: 422 })
  const last = await harness.object('patch', configMap, finalizers('x.dev/two'))
  const released = await harness.object('patch', configMap, finalizers())
  expect(released.metadata).not.toHaveProperty('finalizers')
  expect(released.metadata?.resourceVersion).toBe(last.metadata?.resourceVersion)
  expect(await harness.failure('get', configMap, { name: 'a' })).toMatchObject({ code: 404 })
})

test.each([
  ['Foreground', ['foregroundDeletion']],
  ['Orphan', ['orphan']],
] as const)('propagation %s leaves dependents to the garbage collector', async (propagationPolicy, finalizers) => {
  const harness = await Harness.start()
  await harness.object('create', configMap, { body: { metadata: { name: 'a' } } })
  const marked = await harness.object('delete', configMap, { name: 'a', options: { propagationPolicy } })
  expect(marked.metadata).toMatchObject({ finalizers, deletionTimestamp: expect.any(String) as string })
})

test('a pod on a node gets its grace period, which can only be shortened', async () => {
  const harness = await Harness.start()
  await harness.object('create', pod, { body: podBody('web', 'n1') })
  const first = await harness.object('delete', pod, { name: 'web' })
  expect(first.metadata).toMatchObject({
    deletionTimestamp: '2026-01-01T00:00:30Z',
    deletionGracePeriodSeconds: 30,
    generation: 2,
  })
  const longer = await harness.object('delete', pod, { name: 'web', options: { gracePeriodSeconds: 60 } })
  expect(longer.metadata?.resourceVersion).toBe(first.metadata?.resourceVersion)
  const shorter = await harness.object('delete', pod, { name: 'web', options: { gracePeriodSeconds: 10 } })
  expect(shorter.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 })
  const watched = await harness.watch(pod, { resourceVersion: String(harness.storage.revision) })
  await harness.object('delete', pod, { name: 'web', options: { gracePeriodSeconds: 0 } })
  expect(watched.lines).toEqual(['MODIFIED web', 'DELETED web'])
})

test('a namespace is Terminating until it is finalized', async () => {
  const harness = await Harness.start()
  await harness.object('create', namespace, { body: { metadata: { name: 'old' } } })
  expect(await harness.object('delete', namespace, { name: 'old' })).toMatchObject({ status: { phase: 'Terminating' } })
  const current = await harness.object('get', namespace, { name: 'old' })
  const kept = await harness.object('update', namespace, { name: 'old', body: { ...current, spec: {} } })
  expect(kept).toMatchObject({ spec: { finalizers: ['kubernetes'] } })
  const latest = await harness.object('get', namespace, { name: 'old' })
  await harness.object('update', namespace, { name: 'old', subresource: 'finalize', body: { ...latest, spec: {} } })
  expect(await harness.failure('get', namespace, { name: 'old' })).toMatchObject({ code: 404 })
  expect(await harness.failure('delete', namespace, { name: 'default' })).toMatchObject({
    code: 403,
    message: 'namespaces "default" is forbidden: this namespace may not be deleted',
  })
})

test('a collection is deleted as selected', async () => {
  const harness = await Harness.start()
  for (const name of ['a', 'b', 'c']) {
    await harness.object('create', configMap, {
      body: { metadata: { name, labels: { keep: name === 'b' ? 'yes' : 'no' } } },
    })
  }
  const response = await harness.call('deletecollection', configMap, { options: { labelSelector: 'keep=no' } })
  expect(response).toMatchObject({ type: 'list', items: [{ key: 'default/a' }, { key: 'default/c' }] })
  const { items } = await harness.list(configMap)
  expect(items.map(({ key }) => key)).toEqual(['default/b'])
})

test('an eviction uses the disruption budget and is refused when none is left', async () => {
  const harness = await Harness.start()
  for (const name of ['web', 'api']) {
    await harness.object('create', pod, { body: podBody(name, 'n1') })
    await harness.object('patch', pod, {
      name,
      subresource: 'status',
      patchType: MERGE,
      body: { status: { phase: 'Running' } },
    })
  }
  await harness.object('create', budget, {
    body: { metadata: { name: 'b' }, spec: { selector: { matchLabels: { app: 'web' } } } },
  })
  expect(await harness.failure('create', pod, evict('web'))).toMatchObject({
    code: 429,
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
  })
  await harness.object('create', pod, evict('api'))
  const allowed = { name: 'b', subresource: 'status', patchType: MERGE, body: { status: { disruptionsAllowed: 1 } } }
  await harness.object('patch', budget, allowed)
  expect(await harness.object('create', pod, evict('web'))).toMatchObject({ kind: 'Status', status: 'Success' })
  expect(await harness.object('get', pod, { name: 'web' })).toMatchObject({
    metadata: { deletionGracePeriodSeconds: 30 },
  })
  expect(await harness.object('get', budget, { name: 'b' })).toMatchObject({ status: { disruptionsAllowed: 0 } })
})

test('a pod is bound to a node once', async () => {
  const harness = await Harness.start()
  await harness.object('create', pod, { body: podBody('web') })
  const bind = { name: 'web', subresource: 'binding', body: { metadata: { name: 'web' }, target: { name: 'n1' } } }
  await harness.object('create', pod, bind)
  expect(await harness.object('get', pod, { name: 'web' })).toMatchObject({ spec: { nodeName: 'n1' } })
  expect(await harness.failure('create', pod, bind)).toMatchObject({ code: 409 })
})

test('evictions and bindings are admitted as such, and the delete of an eviction is not admitted again', async () => {
  const asked: string[] = []
  const admission: Admission = {
    concerns: (_, { bucket }, subresource) => bucket === 'pods' && subresource !== '',
    async mutate({ object }) {
      return object
    },
    async validate({ operation, subresource, object }) {
      asked.push(`${operation} ${subresource} ${object?.kind} ${object?.metadata?.namespace}`)
      if (object?.metadata?.labels?.['bad']) throw forbidden(pod, 'web', 'so it is')
    },
  }
  const harness = await Harness.start({ admission })
  await harness.object('create', pod, { body: podBody('web') })
  const target = { target: { name: 'n1' } }
  const bind = (metadata: object) => ({ name: 'web', subresource: 'binding', body: { metadata, ...target } })
  expect(await harness.failure('create', pod, bind({ name: 'web', labels: { bad: '1' } }))).toMatchObject({ code: 403 })
  expect(await harness.object('get', pod, { name: 'web' })).not.toMatchObject(target)
  await harness.object('create', pod, bind({ name: 'web' }))
  await harness.object('create', pod, evict('web'))
  expect(asked).toEqual([
    'CREATE binding Binding default',
    'CREATE binding Binding default',
    'CREATE eviction Eviction default',
  ])
})

test('a kind can change an object when its deletion begins', async () => {
  const harness = await Harness.start()
  const held: ResourceDefinition = {
    ...configMap,
    strategy: {
      ...configMap.strategy,
      beginDeletion: (object) => ({ ...object, metadata: { ...object.metadata, finalizers: ['x.dev/hold'] } }),
    },
  }
  await harness.object('create', held, { body: { metadata: { name: 'a' } } })
  expect(await harness.object('delete', held, { name: 'a' })).toMatchObject({
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.dev/hold'] },
  })
  await harness.object('patch', held, finalizers())
  expect(await harness.failure('get', held, { name: 'a' })).toMatchObject({ code: 404 })
})
