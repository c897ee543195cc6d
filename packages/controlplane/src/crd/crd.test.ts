import type { KubeObject, Stored } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { expect, test } from 'vitest'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { builtInCatalog } from '../kinds/catalog.ts'
import { BUCKET, FINALIZER } from '../model/custom-resource-definition.ts'
import { asJsonObjects } from '../model/json.ts'
import type { Storage } from '../storage/index.ts'
import { openStorage } from '../storage/index.ts'
import { CrdCatalog } from './catalog.ts'
import { CrdReconciler } from './reconcile.ts'

const builtIns = builtInCatalog()
const kind = builtIns.find(({ bucket }) => bucket === BUCKET)

interface Harness {
  readonly storage: Storage
  readonly catalog: CrdCatalog
  readonly reconciler: CrdReconciler
  readonly errors: unknown[]
  stop(): Promise<void>
}

async function startHarness(): Promise<Harness> {
  const clock = new VirtualClock(Date.parse('2026-01-02T03:04:05Z'))
  const storage = await openStorage({ clock, log: silentLogger })
  const catalog = new CrdCatalog(builtIns)
  const errors: unknown[] = []
  const reconciler = new CrdReconciler({ storage, clock, onError: (error) => errors.push(error) })
  const ends = [catalog.follow(storage), reconciler.start()]
  return {
    storage,
    catalog,
    reconciler,
    errors,
    async stop() {
      for (const end of ends) end()
      await storage.close()
    },
  }
}

function crd(plural: string, more: { names?: JsonObject; version?: JsonObject; spec?: JsonObject } = {}): KubeObject {
  const single = plural.replace(/s$/, '')
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
      },
    },
    ...more.version,
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com`, uid: plural, creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind: single.charAt(0).toUpperCase() + single.slice(1), ...more.names },
      versions: [version],
      ...more.spec,
    },
  } as KubeObject
}

/** Stores a definition as the registry does. */
async function install({ storage, reconciler }: Harness, object: KubeObject): Promise<void> {
  const { strategy } = kind ?? {}
  const defaulted = strategy?.defaults?.(object) ?? object
  const prepared = strategy?.prepareForCreate?.(defaulted) ?? defaulted
  expect(strategy?.validate?.(prepared)).toEqual([])
  await storage.write(BUCKET, object.metadata?.name ?? '', () => ({ put: prepared }))
  await reconciler.idle()
}

async function beginDeletion({ storage }: Harness, name: string): Promise<void> {
  await storage.write(BUCKET, name, (current) => {
    if (!current) throw new Error('Expected a stored definition')
    const metadata = { ...current.object.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' }
    const marked = { ...current.object, metadata } as Stored<KubeObject>
    return { put: kind?.strategy.beginDeletion?.(marked) ?? marked }
  })
}

const statusOf = ({ storage }: Harness, name: string): JsonObject =>
  asJsonObject(valueAtPath(storage.get(BUCKET, name)?.object, 'status'))

test('a definition is accepted, established and served', async () => {
  const harness = await startHarness()
  let changes = 0
  harness.catalog.onChange(() => changes++)
  await install(
    harness,
    crd('gadgets', { names: { shortNames: ['gd'], categories: ['all'] }, version: { subresources: { status: {} } } }),
  )

  expect(statusOf(harness, 'gadgets.example.com')).toEqual({
    acceptedNames: {
      plural: 'gadgets',
      singular: 'gadget',
      kind: 'Gadget',
      listKind: 'GadgetList',
      shortNames: ['gd'],
      categories: ['all'],
    },
    conditions: [
      {
        type: 'NamesAccepted',
        status: 'True',
        reason: 'NoConflicts',
        message: 'no conflicts found',
        lastTransitionTime: '2026-01-02T03:04:05Z',
      },
      {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
        lastTransitionTime: '2026-01-02T03:04:05Z',
      },
    ],
    storedVersions: ['v1'],
  })
  expect(harness.catalog.find('example.com', 'v1', 'gadgets')).toMatchObject({
    kind: 'Gadget',
    listKind: 'GadgetList',
    singular: 'gadget',
    shortNames: ['gd'],
    categories: ['all'],
    namespaced: true,
    hasStatus: true,
    isBuiltIn: false,
    bucket: 'gadgets.example.com',
    schema: { type: 'object' },
  })
  expect(changes).toBe(1)
  expect(harness.errors).toEqual([])
  await harness.stop()
})

test('names that another definition holds are not accepted until it is deleted', async () => {
  const harness = await startHarness()
  await install(harness, crd('gadgets', { names: { shortNames: ['gd'] } }))
  await install(harness, crd('gizmos', { names: { kind: 'Gadget', shortNames: ['gd', 'gz'] } }))

  // kube-apiserver reports the same for these two definitions.
  const status = statusOf(harness, 'gizmos.example.com')
  expect(status['acceptedNames']).toEqual({ plural: 'gizmos', kind: '' })
  expect(
    asJsonObjects(status['conditions']).map(({ type, status: is, reason, message }) => [type, is, reason, message]),
  ).toEqual([
    ['NamesAccepted', 'False', 'ListKindConflict', '"GadgetList" is already in use'],
    ['Established', 'False', 'NotAccepted', 'not all names are accepted'],
  ])
  expect(harness.catalog.find('example.com', 'v1', 'gizmos')).toBeUndefined()

  await beginDeletion(harness, 'gadgets.example.com')
  await harness.reconciler.idle()
  expect(harness.storage.get(BUCKET, 'gadgets.example.com')).toBeUndefined()
  expect(harness.catalog.find('example.com', 'v1', 'gizmos')?.kind).toBe('Gadget')
  expect(harness.catalog.find('example.com', 'v1', 'gadgets')).toBeUndefined()
  await harness.stop()
})

const instance = (name: string, finalizers?: readonly string[]): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Gadget',
  metadata: { name, namespace: 'a', uid: name, creationTimestamp: 'x', ...(finalizers && { finalizers }) },
})

test('deleting a definition deletes its objects and waits for their finalizers', async () => {
  const harness = await startHarness()
  await install(harness, crd('gadgets'))
  await harness.storage.write('gadgets.example.com', 'a/free', () => ({ put: instance('free') }))
  await harness.storage.write('gadgets.example.com', 'a/held', () => ({ put: instance('held', ['example.com/hold']) }))

  await beginDeletion(harness, 'gadgets.example.com')
  await harness.reconciler.idle()
  expect(harness.storage.get('gadgets.example.com', 'a/free')).toBeUndefined()
  expect(harness.storage.get('gadgets.example.com', 'a/held')?.object.metadata.deletionTimestamp).toBeDefined()
  const held = harness.storage.get(BUCKET, 'gadgets.example.com')
  expect(held?.object.metadata.finalizers).toEqual([FINALIZER])
  expect(
    asJsonObjects(statusOf(harness, 'gadgets.example.com')['conditions']).map(
      ({ type, reason }) => `${asString(type)}: ${asString(reason)}`,
    ),
  ).toContain('Terminating: InstanceDeletionInProgress')
  const leaving = harness.catalog.find('example.com', 'v1', 'gadgets')
  expect(leaving?.verbs).not.toContain('create')
  expect(leaving?.isTerminating).toBe(true)

  await harness.storage.write('gadgets.example.com', 'a/held', () => ({ remove: true }))
  await harness.reconciler.idle()
  expect(harness.storage.get(BUCKET, 'gadgets.example.com')).toBeUndefined()
  expect(harness.errors).toEqual([])
  await harness.stop()
})

test('a restart serves the stored definitions without writing them', async () => {
  const harness = await startHarness()
  await install(harness, crd('gadgets'))
  const { revision } = harness.storage
  const again = new CrdCatalog(builtIns)
  again.follow(harness.storage)
  expect(again.find('example.com', 'v1', 'gadgets')).toBeDefined()
  await harness.reconciler.reconcile('gadgets.example.com')
  expect(harness.storage.revision).toBe(revision)
  await harness.stop()
})

test('changing the labels of a definition does not rebuild the catalog', async () => {
  const harness = await startHarness()
  await install(harness, crd('gadgets'))
  const before = harness.catalog.find('example.com', 'v1', 'gadgets')
  await harness.storage.write(BUCKET, 'gadgets.example.com', (current) => {
    if (!current) throw new Error('Expected a stored definition')
    return { put: { ...current.object, metadata: { ...current.object.metadata, labels: { a: 'b' } } } }
  })
  await harness.reconciler.idle()
  expect(harness.catalog.find('example.com', 'v1', 'gadgets')).toBe(before)
  await harness.stop()
})

test('versions, scale, columns and selectable fields are served', async () => {
  const harness = await startHarness()
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { color: { type: 'string' }, replicas: { type: 'integer' } } },
      },
    },
  }
  const versions = [
    {
      name: 'v2',
      served: true,
      storage: true,
      schema,
      subresources: {
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
      },
      additionalPrinterColumns: [
        { name: 'Color', type: 'string', jsonPath: '.spec.color' },
        { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'Spec', type: 'string', jsonPath: '.spec' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
      selectableFields: [{ jsonPath: '.spec.color' }],
    },
    { name: 'v1', served: true, storage: false, schema },
    { name: 'v0', served: false, storage: false, schema },
  ]
  await install(harness, crd('gadgets', { spec: { versions } }))
  const custom = harness.catalog.all().filter(({ group }) => group === 'example.com')
  expect(custom.map(({ version }) => version)).toEqual(['v2', 'v1'])
  const [definition] = custom
  expect(definition?.scale).toEqual({
    specReplicas: '.spec.replicas',
    statusReplicas: '.status.replicas',
    labelSelector: '.status.selector',
  })
  const object = {
    metadata: { name: 'a', creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: { color: 'red', size: 3 },
  } as KubeObject
  // `kubectl get -o wide` prints the same with kube-apiserver.
  expect(definition?.printer.cells(object, Date.parse('2026-01-02T03:07:05Z'))).toEqual([
    'a',
    'red',
    3,
    null,
    '{"color":"red","size":3}',
    '3m',
  ])
  expect(definition?.printer.columns.map(({ name, priority }) => [name, priority])).toEqual([
    ['Name', 0],
    ['Color', 0],
    ['Size', 1],
    ['Ready', 0],
    ['Spec', 0],
    ['Age', 0],
  ])
  expect(definition?.strategy.selectableFields?.['spec.color']?.(object)).toBe('red')
  expect(custom[1]?.printer.columns.map(({ name }) => name)).toEqual(['Name', 'Age'])
  await harness.stop()
})

test('a former storage version stays in storedVersions and may not be removed from the spec', () => {
  const strategy = kind?.strategy
  const created = strategy?.prepareForCreate?.(strategy.defaults?.(crd('gadgets')) ?? {}) as Stored<KubeObject>
  const schema = { openAPIV3Schema: { type: 'object' } }
  const withVersions = (versions: readonly JsonObject[]): KubeObject =>
    ({ ...created, spec: { ...asJsonObject(valueAtPath(created, 'spec')), versions } }) as KubeObject
  const both = withVersions([
    { name: 'v1', served: true, storage: false, schema },
    { name: 'v2', served: true, storage: true, schema },
  ])
  const moved = strategy?.prepareForUpdate?.(both, created) ?? both
  expect(valueAtPath(moved, 'status', 'storedVersions')).toEqual(['v1', 'v2'])
  expect(strategy?.validateUpdate?.(moved, created)).toEqual([])
  const dropped =
    strategy?.prepareForUpdate?.(withVersions([{ name: 'v2', served: true, storage: true, schema }]), created) ?? both
  expect(strategy?.validateUpdate?.(dropped, created)?.map(({ field }) => field)).toEqual(['status.storedVersions[0]'])
})

test('a built-in resource takes precedence over a custom one', async () => {
  const harness = await startHarness()
  const pods = harness.catalog.find('', 'v1', 'pods')
  harness.catalog.put({
    metadata: { name: 'deployments.apps' },
    spec: { group: 'apps', scope: 'Cluster', versions: [{ name: 'v1', served: true, storage: true }] },
    status: {
      acceptedNames: { plural: 'deployments', kind: 'Mine' },
      conditions: [{ type: 'Established', status: 'True' }],
    },
  })
  expect(harness.catalog.find('apps', 'v1', 'deployments')?.kind).toBe('Deployment')
  expect(harness.catalog.find('', 'v1', 'pods')).toBe(pods)
  await harness.stop()
})

const gadget = (color: unknown): Stored<KubeObject> =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { name: 'a' },
    spec: { color },
  }) as unknown as Stored<KubeObject>

test('CEL rules are checked on create and on update', async () => {
  const harness = await startHarness()
  const rules = [
    { rule: "self.color != 'pink'", message: 'not pink' },
    { rule: 'self.color == oldSelf.color', message: 'may not change' },
  ]
  const spec = {
    type: 'object',
    properties: { color: { type: 'string' } },
    required: ['color'],
    'x-kubernetes-validations': rules,
  }
  await install(
    harness,
    crd('gadgets', { version: { schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } } }),
  )
  const strategy = harness.catalog.find('example.com', 'v1', 'gadgets')?.strategy
  expect(strategy?.validate?.(gadget('red'))).toEqual([])
  expect(strategy?.validate?.(gadget('pink'))?.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'spec: Invalid value: not pink',
  ])
  expect(strategy?.validateUpdate?.(gadget('blue'), gadget('red'))?.map(({ message }) => message)).toEqual([
    'Invalid value: may not change',
  ])
  expect(strategy?.validate?.(gadget(5))?.map(({ message }) => message.slice(0, 60))).toEqual([
    'Invalid value: null: some validation rules were not checked ',
  ])
  await harness.stop()
})

test('removing a definition without deletion removes its objects', async () => {
  const harness = await startHarness()
  await install(harness, crd('gadgets'))
  await harness.storage.write('gadgets.example.com', 'a/held', () => ({ put: instance('held', ['example.com/hold']) }))
  await harness.storage.write(BUCKET, 'gadgets.example.com', () => ({ remove: true }))
  await harness.reconciler.idle()
  expect(harness.storage.count('gadgets.example.com')).toBe(0)
  expect(harness.errors).toEqual([])
  await harness.stop()
})
