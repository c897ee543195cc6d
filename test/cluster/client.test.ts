/** Tests the client's reads and writes on a real API server. */
import type { KubeObject, Stored } from '@tenure/kube'
import { isConflict, jsonPatch, mergePatch, metadataOf, strategicPatch } from '@tenure/kube'
import { ConfigMap, Deployment, Secret } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type Connected, connect } from './support/connect.ts'
import { type CustomResource, customResource } from './support/custom-resource.ts'
import { deployment } from './support/deployment.ts'
import { type TestNamespace, createNamespace } from './support/namespace.ts'

/** The fields that this program knows; the server's schema has more. */
interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number; readonly replicas?: number }
  readonly status?: { readonly phase?: string; readonly replicas?: number }
}

let connection: Connected
let client: Connected['client']
let home: TestNamespace
let namespace: string
let widgets: CustomResource<Widget>
let closed: CustomResource<Widget>

beforeAll(async () => {
  connection = await connect(workerKubeconfig(), { client: { fieldManager: 'client-test' } })
  client = connection.client
  home = await createNamespace(client, 'client-test')
  namespace = home.name
  widgets = customResource<Widget>(client, { kind: 'Widget' })
  closed = customResource<Widget>(client, {
    kind: 'Gadget',
    spec: {
      type: 'object',
      properties: { size: { type: 'integer' }, replicas: { type: 'integer' }, newer: { type: 'string' } },
    },
  })
  await Promise.all([widgets.install(), closed.install()])
})

afterAll(async () => {
  await Promise.all([widgets.uninstall(), closed.uninstall(), home.remove()])
  await connection.close()
})

const named = (name: string): { name: string; namespace: string } => ({ name, namespace })
const managersOf = ({ metadata }: Stored<KubeObject>): readonly (string | undefined)[] =>
  (metadata.managedFields ?? []).map(({ manager }) => manager)

describe('create and get', () => {
  test('objects of built-in and custom kinds are created and read', async () => {
    const created = await client.create(ConfigMap, { metadata: named('plain'), data: { a: '1' } })
    expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } })
    expect(managersOf(created)).toEqual(['client-test'])
    expect(await client.get(ConfigMap, named('plain'))).toEqual(created)

    const widget = await client.create(widgets.kind, { metadata: named('plain'), spec: { size: 3 } })
    expect(widget).toMatchObject({ apiVersion: widgets.kind.apiVersion, kind: 'Widget', spec: { size: 3 } })
    expect(await client.get(widgets.kind, named('plain'))).toEqual(widget)
  })

  test('a second create is AlreadyExists', async () => {
    await client.create(ConfigMap, { metadata: named('twice') })
    await expect(client.create(ConfigMap, { metadata: named('twice') })).rejects.toMatchObject({
      status: 409,
      reason: 'AlreadyExists',
      code: 'TENURE_API_ALREADY_EXISTS',
      fate: 'terminal',
    })
  })

  test('the server generates a name from generateName', async () => {
    const object = { metadata: { generateName: 'made-', namespace } }
    const [one, other] = await Promise.all([client.create(ConfigMap, object), client.create(ConfigMap, object)])
    expect(one.metadata.name).toMatch(/^made-.+/)
    expect(other.metadata.name).toMatch(/^made-.+/)
    expect(other.metadata.name).not.toBe(one.metadata.name)
  })

  test("a live read returns the server's time", async () => {
    const created = await client.create(ConfigMap, { metadata: named('live') })
    const before = Math.floor(Date.now() / 1000) * 1000
    const { object, serverTime } = await client.getLive(ConfigMap, named('live'))
    expect(object).toEqual(created)
    // The server runs on this machine, so both clocks are the same.
    expect(serverTime).toBeGreaterThanOrEqual(before)
    expect(serverTime).toBeLessThanOrEqual(Date.now())
  })

  test('reading a missing object is NotFound', async () => {
    await expect(client.get(ConfigMap, named('missing'))).rejects.toMatchObject({
      status: 404,
      reason: 'NotFound',
      details: { name: 'missing', kind: 'configmaps' },
    })
  })

  test.each(['../../../namespaces/default', '..', '.', 'a/b', 'a%2fb', 'a/../b'])(
    'the name %j, which changes the path, is rejected before it is sent',
    async (name) => {
      const sent = connection.responses.length
      await expect(client.get(ConfigMap, named(name))).rejects.toMatchObject({ code: 'TENURE_NAME_INVALID' })
      await expect(client.delete(ConfigMap, named(name))).rejects.toMatchObject({ code: 'TENURE_NAME_INVALID' })
      await expect(client.get(ConfigMap, { name: 'a', namespace: name })).rejects.toMatchObject({
        code: 'TENURE_NAME_INVALID',
      })
      expect(connection.responses).toHaveLength(sent)
    },
  )

  test.each(['a?watch=true', 'a#b', 'a\\..\\b', 'a b', 'ä', 'a;b=c', 'a\r\nhost: b'])(
    'the name %j reaches the server unchanged',
    async (name) => {
      await expect(client.get(ConfigMap, named(name))).rejects.toMatchObject({ status: 404, details: { name } })
    },
  )
})

describe('list', () => {
  test('a paged list is one snapshot despite concurrent writes', async () => {
    const own = await createNamespace(client, 'client-test-pages')
    const names = Array.from({ length: 7 }, (_, index) => `page-${index}`)
    await Promise.all(names.map((name) => client.create(Secret, { metadata: { name, namespace: own.name } })))

    const sizes: number[] = []
    const remaining: (number | undefined)[] = []
    const versions = new Set<string>()
    const seen: string[] = []
    for await (const { items, metadata } of client.pages(Secret, { namespace: own.name, limit: 3 })) {
      if (sizes.length === 0) {
        await client.delete(Secret, { name: 'page-6', namespace: own.name })
        await client.create(Secret, { metadata: { name: 'page-5a', namespace: own.name } })
      }
      sizes.push(items.length)
      remaining.push(metadata.remainingItemCount)
      versions.add(metadata.resourceVersion)
      seen.push(...items.map((item) => item.metadata.name))
      expect(items.every(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Secret')).toBe(true)
    }
    expect(sizes).toEqual([3, 3, 1])
    expect(remaining).toEqual([4, 1, undefined])
    expect(versions.size).toBe(1)
    expect(seen).toEqual(names)
    await own.remove()
  })

  test('pages are selected by label and field', async () => {
    const labels = { list: 'some' }
    for (const name of ['list-a', 'list-b', 'list-c'])
      await client.create(ConfigMap, { metadata: { ...named(name), labels } })
    const selection = { namespace, labelSelector: 'list in (some, other)' }
    const first = await client.list(ConfigMap, { ...selection, limit: 2 })
    const rest = await client.list(ConfigMap, { ...selection, limit: 2, continue: first.metadata.continue ?? '' })
    expect([...first.items, ...rest.items].map(({ metadata }) => metadata.name)).toEqual(['list-a', 'list-b', 'list-c'])
    expect(rest.metadata.continue ?? '').toBe('')

    const one = await client.list(ConfigMap, { ...selection, fieldSelector: 'metadata.name=list-b' })
    expect(one.items.map(({ metadata }) => metadata.name)).toEqual(['list-b'])
    await expect(client.list(ConfigMap, { labelSelector: 'a==b==c' })).rejects.toMatchObject({ status: 400 })
  })
})

describe('update', () => {
  test('an update with an outdated resourceVersion is a conflict and changes nothing', async () => {
    const first = await client.create(ConfigMap, { metadata: named('update'), data: { v: '1' } })
    const second = await client.update(ConfigMap, { ...first, data: { v: '2' } })
    const stale = client.update(ConfigMap, { ...first, data: { v: '3' } })
    await expect(stale).rejects.toSatisfy(isConflict)
    await expect(stale).rejects.toMatchObject({ status: 409, code: 'TENURE_API_CONFLICT', fate: 'retry' })
    expect(await client.get(ConfigMap, named('update'))).toEqual(second)
  })

  test('an update keeps unknown fields if the schema preserves them', async () => {
    const spec = { size: 1, extra: { deep: [1, { x: 'ü' }] }, big: 2 ** 40 }
    const created = await client.create(widgets.kind, { metadata: named('unknown'), spec })
    await client.update(widgets.kind, { ...created, spec: { ...created.spec, size: 2 } })
    const { spec: stored } = await client.get(widgets.kind, named('unknown'))
    expect(stored).toEqual({ ...spec, size: 2 })
  })

  test('an update keeps fields of a newer schema, and the server prunes unknown ones', async () => {
    const spec = { size: 1, newer: 'kept', unheard: 'pruned' }
    const created = await client.create(closed.kind, { metadata: named('newer'), spec })
    expect(created.spec).toEqual({ size: 1, newer: 'kept' })
    const updated = await client.update(closed.kind, { ...created, spec: { ...created.spec, size: 2 } })
    expect(updated.spec).toEqual({ size: 2, newer: 'kept' })
  })
})

describe('patch', () => {
  test('a JSON patch applies only if its test holds', async () => {
    await client.create(ConfigMap, { metadata: named('json'), data: { v: '1' } })
    const raise = (from: string, to: string): Promise<Stored<ConfigMap>> =>
      client.patch(
        ConfigMap,
        named('json'),
        jsonPatch([
          { op: 'test', path: '/data/v', value: from },
          { op: 'replace', path: '/data/v', value: to },
        ]),
      )
    expect((await raise('1', '2')).data).toEqual({ v: '2' })
    await expect(raise('1', '3')).rejects.toMatchObject({ status: 422, reason: 'Invalid' })
    expect((await client.get(ConfigMap, named('json'))).data).toEqual({ v: '2' })
  })

  test('null in a merge patch removes a field of built-in and custom kinds', async () => {
    await client.create(ConfigMap, { metadata: named('merge'), data: { a: '1', b: '2' } })
    const patched = await client.patch(ConfigMap, named('merge'), mergePatch({ data: { a: null, c: '3' } }))
    expect(patched.data).toEqual({ b: '2', c: '3' })
    await client.create(widgets.kind, { metadata: named('merge'), spec: { size: 1, replicas: 1 } })
    const widget = await client.patch(widgets.kind, named('merge'), mergePatch({ spec: { size: null } }))
    expect(widget.spec).toEqual({ replicas: 1 })
  })

  test('a strategic patch merges lists by key and is not available for custom kinds', async () => {
    await client.create(Deployment, deployment(namespace, 'strategic', 0))
    const sidecar = { name: 'sidecar', image: 'example.test/sidecar' }
    const patch = strategicPatch({ spec: { template: { spec: { containers: [sidecar] } } } })
    const { spec } = await client.patch(Deployment, named('strategic'), patch)
    expect(spec?.template.spec?.containers.map(({ name }) => name).toSorted()).toEqual(['sidecar', 'web'])
    await client.create(widgets.kind, { metadata: named('strategic') })
    await expect(client.patch(widgets.kind, named('strategic'), patch)).rejects.toMatchObject({ status: 415 })
  })

  test('a patch with a resourceVersion is conditional', async () => {
    const { metadata } = await client.create(ConfigMap, { metadata: named('conditional') })
    const patch = (v: string): ReturnType<typeof mergePatch> =>
      mergePatch({ metadata: { resourceVersion: metadata.resourceVersion }, data: { v } })
    await client.patch(ConfigMap, named('conditional'), patch('1'))
    await expect(client.patch(ConfigMap, named('conditional'), patch('2'))).rejects.toSatisfy(isConflict)
  })
})

describe('server-side apply', () => {
  test('apply creates, changes, removes dropped fields, and changes nothing if nothing differs', async () => {
    const intent = { metadata: named('applied') }
    const created = await client.apply(ConfigMap, { ...intent, data: { a: '1', b: '2' } })
    expect(created.metadata.managedFields).toMatchObject([{ manager: 'client-test', operation: 'Apply' }])
    const changed = await client.apply(ConfigMap, { ...intent, data: { a: '3' } })
    expect(changed.data).toEqual({ a: '3' })
    const same = await client.apply(ConfigMap, { ...intent, data: { a: '3' } })
    expect(same.metadata.resourceVersion).toBe(changed.metadata.resourceVersion)
    // A read object can be applied again, because the client omits managedFields.
    const again = await client.apply(ConfigMap, { ...same, data: { a: '4' } })
    expect(again.data).toEqual({ a: '4' })
  })

  test("applying another manager's field is a conflict that names it, unless forced", async () => {
    const size = (size: number): Widget => ({ metadata: named('contested'), spec: { size } })
    await client.apply(widgets.kind, size(1), { fieldManager: 'first' })
    const contest = client.apply(widgets.kind, size(2), { fieldManager: 'second' })
    await expect(contest).rejects.toSatisfy(isConflict)
    await expect(contest).rejects.toMatchObject({
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.spec.size' }] },
    })
    await expect(contest).rejects.toThrow(/conflict with "first"/)
    const forced = await client.apply(widgets.kind, size(2), { fieldManager: 'second', force: true })
    expect(forced.spec).toEqual({ size: 2 })
    expect(managersOf(forced)).toContain('second')
    // The manager that lost the field may still apply other fields.
    const rest = { metadata: named('contested'), spec: { replicas: 1 } }
    expect((await client.apply(widgets.kind, rest, { fieldManager: 'first' })).spec).toEqual({ size: 2, replicas: 1 })
  })

  test('apply with another uid is rejected and does not recreate a deleted object', async () => {
    const { metadata } = await client.apply(ConfigMap, { metadata: named('another') })
    const uid = '00000000-0000-4000-8000-000000000000'
    const other = { metadata: { ...named('another'), uid }, data: { a: '1' } }
    await expect(client.apply(ConfigMap, other)).rejects.toMatchObject({ status: 422, reason: 'Invalid' })
    await client.delete(ConfigMap, named('another'))
    const gone = { metadata: { ...named('another'), uid: metadata.uid } }
    await expect(client.apply(ConfigMap, gone)).rejects.toSatisfy(isConflict)
  })
})

describe('subresources', () => {
  test('only the status subresource writes the status', async () => {
    const created = await client.create(widgets.kind, { metadata: named('status'), spec: { size: 1 } })
    const both = { ...created, spec: { size: 2 }, status: { phase: 'Ready' } }
    const reported = await client.update(widgets.kind, both, { subresource: 'status' })
    expect(reported).toMatchObject({ spec: { size: 1 }, status: { phase: 'Ready' } })
    const fresh = { ...reported, spec: { size: 2 }, status: { phase: 'Wrong' } }
    expect(await client.update(widgets.kind, fresh)).toMatchObject({ spec: { size: 2 }, status: { phase: 'Ready' } })
    const applied = { metadata: named('status'), status: { phase: 'Applied' } }
    const options = { subresource: 'status', force: true } as const
    expect((await client.apply(widgets.kind, applied, options)).status).toEqual({ phase: 'Applied' })
    expect((await client.get(widgets.kind, named('status'), { subresource: 'status' })).status).toEqual({
      phase: 'Applied',
    })
  })

  test('the scale subresource works for built-in and custom kinds', async () => {
    await client.create(Deployment, deployment(namespace, 'scaled', 1))
    const option = { subresource: 'scale' } as const
    expect(await client.get(Deployment, named('scaled'), option)).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
    })
    await client.patch(Deployment, named('scaled'), mergePatch({ spec: { replicas: 2 } }), option)
    expect((await client.get(Deployment, named('scaled'))).spec?.replicas).toBe(2)

    await client.create(widgets.kind, { metadata: named('scaled'), spec: { size: 7, replicas: 1 } })
    const scale = await client.get(widgets.kind, named('scaled'), option)
    const updated = await client.update(widgets.kind, { ...scale, spec: { replicas: 5 } }, option)
    expect(updated).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } })
    expect((await client.get(widgets.kind, named('scaled'))).spec).toEqual({ size: 7, replicas: 5 })
    await expect(client.update(widgets.kind, scale, option)).rejects.toSatisfy(isConflict)
  })
})

describe('write options', () => {
  const misspelt = { dta: { a: '1' } }

  test('fieldValidation Strict rejects an unknown field and Warn only warns', async () => {
    await expect(
      client.create(ConfigMap, { metadata: named('strict'), ...misspelt }, { fieldValidation: 'Strict' }),
    ).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('unknown field "dta"'),
    })
    await client.create(ConfigMap, { metadata: named('warned'), ...misspelt })
    expect(connection.responses.at(-1)?.headers['warning']).toContain('unknown field \\"dta\\"')
    const spec = { size: 1, sise: 2 }
    const gadget = { metadata: named('strict'), spec }
    await expect(client.create(closed.kind, gadget, { fieldValidation: 'Strict' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('unknown field "spec.sise"'),
    })
  })

  test('dryRun returns the result and stores nothing', async () => {
    const options = { dryRun: true } as const
    const dry = await client.create(ConfigMap, { metadata: named('dry') }, options)
    expect(dry.metadata.uid).not.toBe('')
    await expect(client.get(ConfigMap, named('dry'))).rejects.toMatchObject({ status: 404 })

    const real = await client.create(ConfigMap, { metadata: named('dry'), data: { v: '1' } })
    expect((await client.update(ConfigMap, { ...real, data: { v: '2' } }, options)).data).toEqual({ v: '2' })
    const patched = await client.patch(ConfigMap, named('dry'), mergePatch({ data: { v: '3' } }), options)
    expect(patched.data).toEqual({ v: '3' })
    const applied = await client.apply(ConfigMap, { metadata: named('dry'), data: { w: '4' } }, options)
    expect(applied.data).toEqual({ v: '1', w: '4' })
    await client.delete(ConfigMap, named('dry'), options)
    await client.deleteCollection(ConfigMap, { namespace, fieldSelector: 'metadata.name=dry', ...options })
    expect(await client.get(ConfigMap, named('dry'))).toEqual(real)
  })

  test('the error of an invalid object names the field', async () => {
    await expect(client.create(ConfigMap, { metadata: named('Not_A_Name') })).rejects.toMatchObject({
      status: 422,
      reason: 'Invalid',
      fate: 'terminal',
      details: { causes: [{ field: 'metadata.name' }] },
    })
  })
})

describe('the metadata representation', () => {
  const Meta = metadataOf(ConfigMap)

  test('a metadata client reads and writes only metadata', async () => {
    const labels = { form: 'metadata' }
    const whole = await client.create(ConfigMap, { metadata: { ...named('form'), labels }, data: { a: '1' } })
    const only = { apiVersion: 'v1', kind: 'ConfigMap', metadata: whole.metadata }
    expect(await client.get(Meta, named('form'))).toEqual(only)
    expect((await client.getLive(Meta, named('form'))).object).toEqual(only)
    expect((await client.list(Meta, { namespace, labelSelector: 'form=metadata' })).items).toEqual([only])
    // The last page of a selection may be empty.
    const paged = await Array.fromAsync(client.pages(Meta, { namespace, labelSelector: 'form=metadata', limit: 1 }))
    expect(paged.flatMap(({ items }) => items)).toEqual([only])
    const patched = await client.patch(Meta, named('form'), mergePatch({ metadata: { annotations: { b: '2' } } }))
    expect(patched).toEqual({ ...only, metadata: patched.metadata })
    expect(patched.metadata.annotations).toEqual({ b: '2' })
    const applied = await client.apply(Meta, { metadata: { ...named('form'), annotations: { c: '3' } } })
    expect(applied).toEqual({ ...only, metadata: applied.metadata })
    expect(applied.metadata.annotations).toEqual({ b: '2', c: '3' })
    expect((await client.get(ConfigMap, named('form'))).data).toEqual({ a: '1' })
  })

  test('a metadata client works with custom kinds', async () => {
    const { metadata } = await client.create(widgets.kind, { metadata: named('form'), spec: { size: 1 } })
    expect(await client.get(metadataOf(widgets.kind), named('form'))).toEqual({
      apiVersion: widgets.kind.apiVersion,
      kind: 'Widget',
      metadata,
    })
  })

  test('a metadata client refuses to write whole objects, which would lose the rest', async () => {
    const whole = await client.create(ConfigMap, { metadata: named('whole'), data: { a: '1' } })
    await expect(client.update(Meta, whole)).rejects.toMatchObject({ code: 'TENURE_METADATA_ONLY' })
    await expect(client.create(Meta, { metadata: named('none') })).rejects.toMatchObject({
      code: 'TENURE_METADATA_ONLY',
    })
    expect(await client.get(ConfigMap, named('whole'))).toEqual(whole)
  })
})
