import { expect, test } from 'vitest'
import { KINDS } from '../testing/catalog.ts'
import { Harness } from '../testing/harness.ts'
import type { Json } from '../testing/harness.ts'
import type { Admission } from '../request.ts'

const { configMap, deployment, lease, namespace, widget } = KINDS
const MERGE = 'application/merge-patch+json'
const APPLY = 'application/apply-patch+yaml'
const WIDGET = { apiVersion: 'example.dev/v1', kind: 'Widget' }
const map = (name: string, data: object = {}): object => ({ metadata: { name }, data })

test('a create sets the server-set fields, in order', async () => {
  const harness = await Harness.start()
  const created = await harness.object('create', configMap, {
    body: { metadata: { name: 'a', uid: 'mine', labels: {} }, data: { x: '1' } },
  })
  expect(Object.keys(created)).toEqual(['kind', 'apiVersion', 'metadata', 'data'])
  expect(Object.keys(created.metadata ?? {})).toEqual([
    'name',
    'namespace',
    'uid',
    'resourceVersion',
    'creationTimestamp',
    'managedFields',
  ])
  expect(created.metadata).toMatchObject({
    namespace: 'default',
    creationTimestamp: '2026-01-01T00:00:00Z',
    managedFields: [{ manager: 'tester', operation: 'Update', apiVersion: 'v1' }],
  })
  expect(created.metadata?.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/)
})

test('a create needs a namespace that exists and is not terminating', async () => {
  const harness = await Harness.start()
  expect(await harness.failure('create', configMap, { namespace: 'nope', body: map('a') })).toMatchObject({
    code: 404,
    message: 'namespaces "nope" not found',
  })
  await harness.object('create', namespace, { body: { metadata: { name: 'old' } } })
  await harness.object('delete', namespace, { name: 'old' })
  expect(await harness.failure('create', configMap, { namespace: 'old', body: map('a') })).toMatchObject({
    code: 403,
    message:
      'configmaps "a" is forbidden: unable to create new content in namespace old because it is being terminated',
    details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
  })
})

test('a generated name that is taken is generated again', async () => {
  const harness = await Harness.start()
  const body = { metadata: { generateName: 'a-' } }
  const made = await Promise.all(Array.from({ length: 50 }, () => harness.object('create', configMap, { body })))
  expect(new Set(made.map(({ metadata }) => metadata?.name)).size).toBe(50)
})

test('a name that is taken is a conflict, also while the object is being deleted', async () => {
  const harness = await Harness.start()
  await harness.object('create', configMap, { body: { metadata: { name: 'a', finalizers: ['x.dev/y'] } } })
  expect(await harness.failure('create', configMap, { body: map('a') })).toMatchObject({
    code: 409,
    reason: 'AlreadyExists',
    message: 'configmaps "a" already exists',
  })
  await harness.object('delete', configMap, { name: 'a' })
  expect(await harness.failure('create', configMap, { body: map('a') })).toMatchObject({
    message: 'object is being deleted: configmaps "a" already exists',
  })
})

test('unknown and duplicate fields are warned of, refused or ignored', async () => {
  const harness = await Harness.start()
  const body = { metadata: { name: 'a' }, foo: 1 }
  const response = await harness.call('create', configMap, { body })
  expect(response).toMatchObject({ warnings: ['unknown field "foo"'] })
  expect(response.type === 'object' && response.stored?.object).not.toHaveProperty('foo')
  expect(await harness.failure('create', configMap, { body, options: { fieldValidation: 'Strict' } })).toMatchObject({
    code: 400,
    message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo"',
  })
})

test('keys named like members of every object are ordinary keys', async () => {
  const harness = await Harness.start()
  const body = JSON.parse(
    '{"metadata":{"name":"a","labels":{"constructor":"x"}},"data":{"__proto__":"y","toString":"z"}}',
  ) as object
  const created = await harness.object('create', configMap, { body })
  expect(JSON.stringify(created['data'])).toBe('{"__proto__":"y","toString":"z"}')
  expect(({} as Record<string, unknown>)['y']).toBeUndefined()
})

test('an update with an old version, another uid or another name is refused', async () => {
  const harness = await Harness.start()
  const { metadata } = await harness.object('create', configMap, { body: map('a', { x: '1' }) })
  const stale = { metadata: { name: 'a', resourceVersion: metadata?.resourceVersion }, data: { x: '2' } }
  await harness.object('update', configMap, { name: 'a', body: stale })
  expect(await harness.failure('update', configMap, { name: 'a', body: stale })).toMatchObject({
    code: 409,
    message:
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  })
  expect(
    await harness.failure('update', configMap, { name: 'a', body: { metadata: { name: 'a', uid: 'x' } } }),
  ).toMatchObject({ code: 409 })
  expect(await harness.failure('update', configMap, { name: 'a', body: map('b') })).toMatchObject({
    code: 400,
    message: 'the name of the object (b) does not match the name on the URL (a)',
  })
  expect(await harness.failure('update', configMap, { name: 'b', body: map('b') })).toMatchObject({ code: 404 })
})

test('an update that changes nothing writes nothing', async () => {
  const harness = await Harness.start()
  const { metadata } = await harness.object('create', configMap, { body: map('a', { x: '1' }) })
  await harness.clock.advance(5000)
  const again = await harness.object('update', configMap, { name: 'a', body: map('a', { x: '1' }) })
  expect(again.metadata?.resourceVersion).toBe(metadata?.resourceVersion)
  expect(harness.storage.revision).toBe(Number(metadata?.resourceVersion))
})

test('an update of a custom resource needs a version, and an update creates a lease', async () => {
  const harness = await Harness.start()
  await harness.object('create', widget, { body: { ...WIDGET, metadata: { name: 'a' } } })
  const body = { ...WIDGET, metadata: { name: 'a' } }
  expect(await harness.failure('update', widget, { name: 'a', body })).toMatchObject({
    code: 422,
    message:
      'widgets.example.dev "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  })
  const response = await harness.call('update', lease, { name: 'l', body: { metadata: { name: 'l' } } })
  expect(response).toMatchObject({ status: 201 })
})

test('generation counts changes of the spec, and status is written separately', async () => {
  const harness = await Harness.start()
  const created = await harness.object('create', widget, {
    body: { ...WIDGET, metadata: { name: 'a', generation: 7 }, spec: {}, status: { x: 1 } },
  })
  expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { size: 3 } })
  expect(created).not.toHaveProperty('status')
  const patched = await harness.object('patch', widget, {
    name: 'a',
    patchType: MERGE,
    body: { spec: { size: 4 }, status: { x: 1 } },
  })
  expect(patched).toMatchObject({ metadata: { generation: 2 }, spec: { size: 4 } })
  expect(patched).not.toHaveProperty('status')
  const status = await harness.object('patch', widget, {
    name: 'a',
    subresource: 'status',
    patchType: MERGE,
    body: { metadata: { labels: { a: 'b' } }, spec: { size: 9 }, status: { x: 2 } },
  })
  expect(status).toMatchObject({ metadata: { generation: 2 }, spec: { size: 4 }, status: { x: 2 } })
  expect(status.metadata).not.toHaveProperty('labels')
})

test('an object that violates its schema is refused with every error', async () => {
  const harness = await Harness.start()
  const body = { ...WIDGET, metadata: { name: 'B_' }, spec: { size: -1 } }
  expect(await harness.failure('create', widget, { body })).toMatchObject({
    code: 422,
    details: {
      name: 'B_',
      group: 'example.dev',
      kind: 'Widget',
      causes: [{ field: 'metadata.name' }, { field: 'spec.size' }],
    },
  })
})

test('concurrent patches all take effect', async () => {
  const harness = await Harness.start()
  await harness.object('create', configMap, { body: map('a') })
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      harness.call('patch', configMap, { name: 'a', patchType: MERGE, body: { data: { [`k${index}`]: 'x' } } }),
    ),
  )
  const { data } = await harness.object('get', configMap, { name: 'a' })
  expect(Object.keys(data as object)).toHaveLength(40)
})

test('an apply creates, changes nothing the second time, and conflicts with other managers', async () => {
  const harness = await Harness.start()
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } }
  const apply = (fieldManager: string, value: string, force?: boolean) => ({
    name: 'a',
    patchType: APPLY,
    body: { ...body, data: { x: value } },
    options: { fieldManager, ...(force !== undefined && { force }) },
  })
  expect(await harness.call('patch', configMap, apply('one', '1'))).toMatchObject({ status: 201 })
  const { revision } = harness.storage
  await harness.clock.advance(5000)
  expect(await harness.call('patch', configMap, apply('one', '1'))).toMatchObject({ status: 200 })
  expect(harness.storage.revision).toBe(revision)
  expect(await harness.failure('patch', configMap, apply('two', '2'))).toMatchObject({
    code: 409,
    details: { causes: [{ reason: 'FieldManagerConflict' }] },
  })
  expect(await harness.object('patch', configMap, apply('two', '2', true))).toMatchObject({ data: { x: '2' } })
  expect(await harness.failure('patch', configMap, { ...apply('one', '1'), options: {} })).toMatchObject({
    message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  })
})

test('a dry run returns the result and stores nothing', async () => {
  const harness = await Harness.start()
  const { revision } = harness.storage
  const made = await harness.object('create', configMap, { body: map('a'), options: { dryRun: ['All'] } })
  expect(made.metadata).toMatchObject({ name: 'a', uid: expect.any(String) as string })
  expect(made.metadata).not.toHaveProperty('resourceVersion')
  expect(harness.storage.revision).toBe(revision)
  expect(await harness.failure('create', configMap, { body: map('a'), options: { dryRun: ['No'] } })).toMatchObject({
    code: 422,
  })
})

test('scale shows and changes the replicas of any kind', async () => {
  const harness = await Harness.start()
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const body = { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template } }
  await harness.object('create', deployment, { body })
  const get = await harness.object('get', deployment, { name: 'web', subresource: 'scale' })
  expect(get).toMatchObject({ kind: 'Scale', spec: { replicas: 2 }, status: { replicas: 0, selector: 'app=web' } })
  const patch = { name: 'web', subresource: 'scale', patchType: MERGE, body: { spec: { replicas: 5 } } }
  expect(await harness.object('patch', deployment, patch)).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } })
  expect(await harness.object('get', deployment, { name: 'web' })).toMatchObject({
    metadata: { generation: 2 },
    spec: { replicas: 5 },
  })
  expect(await harness.failure('patch', deployment, { ...patch, body: { spec: { replicas: -1 } } })).toMatchObject({
    code: 422,
  })
})

test('admission sees the newest object, mutates and refuses, and runs again after a race', async () => {
  const seen: unknown[] = []
  let race: (() => Promise<unknown>) | undefined
  const admission: Admission = {
    concerns: (_, { bucket }) => bucket === 'configmaps',
    async mutate({ object, oldObject }) {
      seen.push((oldObject as Json | undefined)?.['data'])
      const other = race
      race = undefined
      await other?.()
      return object && { ...object, metadata: { ...object.metadata, labels: { seen: 'yes' } } }
    },
    async validate({ object }) {
      if ((object as Json | undefined)?.['data'] && 'bad' in ((object as Json)['data'] as object))
        throw new Error('refused')
    },
  }
  const harness = await Harness.start({ admission })
  const created = await harness.object('create', configMap, { body: map('a', { x: '1' }) })
  expect(created.metadata?.labels).toEqual({ seen: 'yes' })
  race = () => harness.call('patch', configMap, { name: 'a', patchType: MERGE, body: { data: { y: '2' } } })
  const patched = await harness.object('patch', configMap, { name: 'a', patchType: MERGE, body: { data: { z: '3' } } })
  expect(patched['data']).toEqual({ x: '1', y: '2', z: '3' })
  expect(seen.at(-1)).toEqual({ x: '1', y: '2' })
  await expect(
    harness.call('patch', configMap, { name: 'a', patchType: MERGE, body: { data: { bad: '' } } }),
  ).rejects.toThrow('refused')
})

const named = (type: object): object => ({ ...type, metadata: { name: 'a' } })

test('a custom resource must name its kind and version', async () => {
  const harness = await Harness.start()
  const refused = (type: object) => harness.failure('create', widget, { body: named(type) })
  expect(await refused({})).toMatchObject({
    code: 400,
    message: expect.stringContaining("Object 'Kind' is missing in"),
  })
  expect(await refused({ ...WIDGET, kind: 'Gadget' })).toMatchObject({
    code: 422,
    message: 'Gadget.example.dev "a" is invalid: kind: Invalid value: "Gadget": must be Widget',
  })
  expect(await refused({ ...WIDGET, apiVersion: 'example.dev/v2' })).toMatchObject({
    code: 400,
    message: 'the API version in the data (example.dev/v2) does not match the expected API version (example.dev/v1)',
  })
  expect((await harness.list(widget)).items).toEqual([])
  await harness.object('create', widget, { body: named(WIDGET) })
  const renamed = { name: 'a', patchType: MERGE, body: { kind: 'Gadget' } }
  expect(await harness.failure('patch', widget, renamed)).toMatchObject({ code: 422 })
})

test('unqualified finalizers are warned of on custom resources and refused on others', async () => {
  const harness = await Harness.start()
  const body = { ...WIDGET, metadata: { name: 'a', finalizers: ['mine'] } }
  expect(await harness.call('create', widget, { body })).toMatchObject({
    warnings: [expect.stringContaining('"mine": prefer a domain-qualified finalizer name')],
  })
  const other = { metadata: { name: 'a', finalizers: ['mine'] } }
  expect(await harness.failure('create', configMap, { body: other })).toMatchObject({ code: 422 })
})

test('warnings are sent with an error as well', async () => {
  const harness = await Harness.start()
  const body = { metadata: { name: 'B_' }, unknown: 1 }
  await expect(harness.call('create', configMap, { body })).rejects.toMatchObject({
    code: 422,
    warnings: ['unknown field "unknown"'],
  })
})

test('admission sees a generated name only once it is set, and may choose another', async () => {
  const seen: unknown[] = []
  const admission: Admission = {
    async mutate({ object, name }) {
      seen.push(['mutate', name, object?.metadata?.name])
      return object?.metadata?.labels?.['as']
        ? { ...object, metadata: { ...object.metadata, name: object.metadata.labels['as'] } }
        : object
    },
    async validate({ object, name }) {
      seen.push(['validate', name === object?.metadata?.name])
    },
  }
  const harness = await Harness.start({ admission })
  seen.length = 0
  const drawn = await harness.object('create', configMap, { body: { metadata: { generateName: 'a-' } } })
  expect(drawn.metadata?.name).toMatch(/^a-.{5}$/)
  expect(seen).toEqual([
    ['mutate', '', undefined],
    ['validate', true],
  ])
  const labels = { as: 'chosen' }
  await harness.object('create', configMap, { body: { metadata: { generateName: 'a-', labels } } })
  expect(await harness.object('get', configMap, { name: 'chosen' })).toMatchObject({ metadata: { labels } })
})

test('an empty list of managers clears them all', async () => {
  const harness = await Harness.start()
  await harness.object('create', configMap, { body: map('a', { x: '1' }) })
  const body = { metadata: { name: 'a', managedFields: [] }, data: { x: '1' } }
  expect((await harness.object('update', configMap, { name: 'a', body })).metadata).not.toHaveProperty('managedFields')
})
