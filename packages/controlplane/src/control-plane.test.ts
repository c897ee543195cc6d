import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from 'node:http2'
import { Client, connectTo, defineKind, HttpTransport, mergePatch } from '@tenure/kube'
import type { Transport, TransportRequest } from '@tenure/kube'
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  MutatingWebhookConfiguration,
  Namespace,
  ServiceAccount,
} from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { createAuthority } from '@tenure/runtime/certificates'
import { afterEach, describe, expect, test } from 'vitest'
import { startControlPlane } from './control-plane.ts'
import type { ControlPlane, ControlPlaneOptions } from './control-plane.ts'
import { conflict } from './errors.ts'
import type { Fault } from './server/in-process-transport.ts'

const running: ControlPlane[] = []
const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString()

async function start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane({ port: false, controllers: false, ...options })
  running.push(plane)
  return plane
}

afterEach(async () => {
  for (const plane of running.splice(0)) await plane.stop()
})

const map = (name: string, data: Record<string, string> = {}) => ({ metadata: { name, namespace: 'default' }, data })

async function ask(
  transport: Transport,
  path: string,
  init: Partial<TransportRequest> = {},
): Promise<{ status: number; text: string; headers: TransportRequest['headers'] }> {
  const response = await transport.request({ method: 'GET', path, ...init })
  return {
    status: response.status,
    text: await response.body.text(),
    headers: response.headers as TransportRequest['headers'],
  }
}

describe('startControlPlane in process', () => {
  test('a client can read, write and list every object it needs', async () => {
    const { transport } = await start()
    const api = new Client({ transport })
    const created = await api.create(ConfigMap, map('a', { x: '1' }))
    expect(await api.get(ConfigMap, { name: 'a', namespace: 'default' })).toEqual(created)
    expect(await api.apply(ConfigMap, { ...map('a', { y: '2' }), apiVersion: 'v1', kind: 'ConfigMap' })).toMatchObject({
      data: { x: '1', y: '2' },
    })
    const { items } = await api.list(ConfigMap, { namespace: 'default' })
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a'])
    expect(await api.delete(ConfigMap, { name: 'a', namespace: 'default' })).toMatchObject({
      gone: true,
      uid: created.metadata.uid,
    })
    await expect(api.get(Namespace, { name: 'nope' })).rejects.toMatchObject({ status: 404, reason: 'NotFound' })
  })

  test('a watch delivers writes in order and ends when its reader leaves', async () => {
    const { transport } = await start()
    const api = new Client({ transport })
    const seen: string[] = []
    for await (const events of api.watch(ConfigMap, { namespace: 'default', sendInitialEvents: true })) {
      for (const event of events) {
        seen.push(event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.object.metadata.name}`)
        if (event.type !== 'BOOKMARK' || !event.initialEventsEnd) continue
        await api.create(ConfigMap, map('a'))
        await api.update(ConfigMap, map('a', { x: '1' }))
        await api.delete(ConfigMap, { name: 'a', namespace: 'default' })
      }
      if (seen.at(-1) === 'DELETED a') break
    }
    expect(seen).toEqual(['BOOKMARK', 'ADDED a', 'MODIFIED a', 'DELETED a'])
  })

  test('a client that answers each response with a request does not starve the event loop', async () => {
    const { transport } = await start()
    const api = new Client({ transport })
    await api.create(ConfigMap, map('a'))
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    for (let index = 0; index < 2000; index++) await api.get(ConfigMap, { name: 'a', namespace: 'default' })
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
  })

  test('a transport can refuse, lose, delay, age and break requests', async () => {
    const clock = new VirtualClock()
    const plane = await start({ clock, random: seededRandom() })
    let fault: Fault | undefined
    const transport = plane.transportFor({ faults: () => fault })
    const api = new Client({ transport, clock, random: seededRandom(), retry: { attempts: 1 } })
    const before = plane.storage.revision
    fault = { error: conflict({ group: '', plural: 'configmaps', kind: 'ConfigMap' }, 'a', 'made up') }
    await expect(api.create(ConfigMap, map('a'))).rejects.toMatchObject({ status: 409 })
    fault = { isLost: true }
    await expect(api.create(ConfigMap, map('a'))).rejects.toMatchObject({ code: 'TENURE_CONNECTION_REFUSED' })
    expect(plane.storage.revision).toBe(before)
    fault = { isResponseLost: true }
    await expect(api.create(ConfigMap, map('a'))).rejects.toMatchObject({ code: 'TENURE_CONNECTION_LOST' })
    expect(plane.storage.revision).toBe(before + 1)
    fault = { staleAt: before }
    await expect(api.get(ConfigMap, { name: 'a', namespace: 'default' })).rejects.toMatchObject({ status: 404 })
    fault = { delay: 1000 }
    let isThere = false
    const slow = api.get(ConfigMap, { name: 'a', namespace: 'default' }).then(() => (isThere = true))
    await clock.advance(999)
    expect(isThere).toBe(false)
    await clock.advance(1)
    expect(await slow).toBe(true)
    fault = undefined
    const watching = (async () => {
      for await (const _ of api.watch(ConfigMap, { namespace: 'default' })) transport.crash()
    })()
    await expect(watching).rejects.toMatchObject({ code: 'TENURE_CONNECTION_LOST' })
    await expect(api.get(ConfigMap, { name: 'a', namespace: 'default' })).rejects.toMatchObject({
      code: 'TENURE_CONNECTION_REFUSED',
    })
    transport.revive()
    expect(await api.get(ConfigMap, { name: 'a', namespace: 'default' })).toBeDefined()
  })

  test('discovery, OpenAPI and the version are served', async () => {
    const { transport } = await start()
    expect(JSON.parse((await ask(transport, '/version')).text)).toMatchObject({ gitVersion: 'v1.36.3+tenure' })
    expect((await ask(transport, '/readyz')).text).toBe('ok')
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const aggregated = JSON.parse((await ask(transport, '/apis', { headers: { accept } })).text) as {
      items: { metadata: { name: string } }[]
    }
    expect(aggregated.items.map(({ metadata }) => metadata.name)).toContain('apps')
    expect(JSON.parse((await ask(transport, '/apis/apps/v1')).text)).toMatchObject({
      kind: 'APIResourceList',
      groupVersion: 'apps/v1',
    })
    const openapi = JSON.parse((await ask(transport, '/openapi/v3/apis/apps/v1')).text) as {
      paths: Record<string, { patch?: { parameters: { name: string }[] } }>
      components: { schemas: Record<string, unknown> }
    }
    const { patch } = openapi.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'] ?? {}
    expect(patch?.parameters.map(({ name }) => name)).toContain('fieldValidation')
    expect(
      JSON.stringify(openapi)
        .matchAll(/#\/components\/schemas\/([\w.-]+)/g)
        .every(([, name = '']) => name in openapi.components.schemas),
    ).toBe(true)
    expect(await ask(transport, '/apis/nope/v1/foos')).toMatchObject({ status: 404, text: '404 page not found\n' })
  })

  test('objects are served as tables and as metadata alone', async () => {
    const { transport } = await start()
    await new Client({ transport }).create(ConfigMap, map('a', { x: '1' }))
    const path = '/api/v1/namespaces/default/configmaps'
    const as = async (form: string, at = path): Promise<unknown> =>
      JSON.parse(
        (await ask(transport, at, { headers: { accept: `application/json;as=${form};v=v1;g=meta.k8s.io` } })).text,
      )
    expect(await as('Table')).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['a', 1, expect.any(String)], object: { kind: 'PartialObjectMetadata' } }],
    })
    expect(await as('PartialObjectMetadata', `${path}/a`)).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: expect.any(Object) as object,
    })
    const yaml = await ask(transport, `${path}/a`, { headers: { accept: 'application/yaml' } })
    expect(yaml.text).toMatch(/^apiVersion: v1\ndata:\n {2}x: ['"]1['"]\nkind: ConfigMap\n/)
  })

  test('invalid input is refused and stores nothing', async () => {
    const plane = await start()
    const before = plane.storage.revision
    const path = '/api/v1/namespaces/default/configmaps'
    const post = (body: string, contentType = 'application/json') =>
      ask(plane.transport, path, { method: 'POST', body, headers: { 'content-type': contentType } })
    expect(await post('{bad')).toMatchObject({ status: 400 })
    expect(await post('[]')).toMatchObject({ status: 400 })
    expect(await post('a: [')).toMatchObject({ status: 400 })
    expect(await post('a: [', 'application/yaml')).toMatchObject({ status: 400 })
    expect(await post('{}', 'text/plain')).toMatchObject({ status: 415 })
    expect(await post(`{"metadata":{"name":"a"},"data":{"a":"${'x'.repeat(3 * 1024 * 1024)}"}}`)).toMatchObject({
      status: 413,
    })
    expect(await post(`{"metadata":{"name":"a"},"data":${'{"a":'.repeat(600)}1${'}'.repeat(600)}}`)).toMatchObject({
      status: 400,
    })
    expect(await ask(plane.transport, `${path}?labelSelector=${encodeURIComponent('a in (')}`)).toMatchObject({
      status: 400,
    })
    expect(await ask(plane.transport, path, { method: 'PUT', body: '{}' })).toMatchObject({ status: 405 })
    expect(plane.storage.revision).toBe(before)
  })

  test('roles decide what users other than the administrator may do', async () => {
    const plane = await start()
    const api = new Client({ transport: plane.transport })
    const bob = { name: 'bob', groups: ['system:authenticated'] }
    const transport = plane.transportFor({ user: bob })
    const path = '/api/v1/namespaces/default/configmaps'
    expect(await ask(transport, path)).toMatchObject({ status: 403 })
    expect(await ask(transport, '/apis')).toMatchObject({ status: 200 })
    const RoleBinding = defineKind<{ metadata?: object; roleRef: object; subjects: readonly object[] }>({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
    })
    await api.create(RoleBinding, {
      metadata: { name: 'b', namespace: 'default' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    })
    expect(await ask(transport, path)).toMatchObject({ status: 200 })
    expect(await ask(transport, '/api/v1/namespaces/kube-system/configmaps')).toMatchObject({ status: 403 })
    expect(await ask(transport, path, { method: 'POST', body: '{}' })).toMatchObject({ status: 403 })
    const review = {
      method: 'POST',
      body: JSON.stringify({
        spec: { resourceAttributes: { verb: 'list', resource: 'configmaps', namespace: 'default' } },
      }),
    } as const
    expect(
      JSON.parse((await ask(transport, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review)).text),
    ).toMatchObject({ status: { allowed: true } })
  })
})

describe('startControlPlane over HTTPS', () => {
  test('valid certificates and tokens are accepted, and anonymous users reach only the health checks', async () => {
    const plane = await start({ port: 0 })
    const api = new Client({ transport: plane.transport })
    await api.create(ServiceAccount, { metadata: { name: 'bob', namespace: 'default' } })
    const { text } = await ask(plane.transport, '/api/v1/namespaces/default/serviceaccounts/bob/token', {
      method: 'POST',
      body: '{"spec":{}}',
    })
    const { status } = JSON.parse(text) as { status: { token: string } }
    const get = (path: string, headers: Record<string, string> = {}) => http1(plane, path, headers)
    expect(await get('/healthz')).toMatchObject({ status: 200 })
    expect(await get('/api/v1/pods')).toMatchObject({ status: 403 })
    expect(await get('/api/v1/pods', { authorization: 'Bearer nonsense' })).toMatchObject({ status: 401 })
    expect(await get('/api/v1/pods', { authorization: `Bearer ${plane.token}` })).toMatchObject({ status: 200 })
    expect((await get('/api/v1/pods', { authorization: `Bearer ${status.token}` })).text).toContain(
      'system:serviceaccount:default:bob',
    )
    await api.delete(ServiceAccount, { name: 'bob', namespace: 'default' })
    expect(await get('/api/v1/pods', { authorization: `Bearer ${status.token}` })).toMatchObject({ status: 401 })
  })

  test('a client over sockets receives watch events and a bookmark', async () => {
    const plane = await start({ port: 0 })
    const config = JSON.parse(plane.kubeconfig ?? '') as {
      clusters: { cluster: Record<string, string> }[]
      users: { user: Record<string, string> }[]
    }
    const { cluster } = config.clusters[0] ?? { cluster: {} }
    const { user } = config.users[0] ?? { user: {} }
    const transport = new HttpTransport(
      connectTo({
        server: plane.url ?? '',
        ca: decode(cluster['certificate-authority-data']),
        certificate: { cert: decode(user['client-certificate-data']), key: decode(user['client-key-data']) },
      }),
    )
    const api = new Client({ transport })
    const seen: string[] = []
    for await (const events of api.watch(ConfigMap, { namespace: 'default', sendInitialEvents: true })) {
      for (const event of events) {
        seen.push(event.type)
        if (event.type === 'BOOKMARK') await api.create(ConfigMap, map('a', { x: '1' }))
      }
      if (seen.at(-1) === 'ADDED') break
    }
    expect(seen).toEqual(['BOOKMARK', 'ADDED'])
    await transport.close()
  })

  test('one HTTP/2 connection carries many requests', async () => {
    const plane = await start({ port: 0 })
    const session = connect(plane.url ?? '', { rejectUnauthorized: false })
    const get = (name: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ':path': `/api/v1/namespaces/${name}`,
          authorization: `Bearer ${plane.token}`,
        })
        let text = ''
        stream.setEncoding('utf8')
        stream.on('data', (chunk: string) => (text += chunk))
        stream.on('end', () => resolve(text))
        stream.on('error', reject)
      })
    const answers = await Promise.all(Array.from({ length: 50 }, () => get('default')))
    expect(answers.every((answer) => answer.includes('"name":"default"'))).toBe(true)
    const tooLarge = new Promise<number>((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/api/v1/namespaces/default/configmaps',
        authorization: `Bearer ${plane.token}`,
      })
      stream.on('response', (headers) => resolve(headers[':status'] ?? 0))
      stream.on('error', reject)
      stream.end('x'.repeat(4 * 1024 * 1024))
    })
    expect(await tooLarge).toBe(413)
    session.destroy()
  })
})

test('a kind that is being deleted accepts no new objects and releases those that finalizers held', async () => {
  const { transport } = await start()
  const api = new Client({ transport })
  const Lamp = defineKind({ apiVersion: 'example.dev/v1', kind: 'Lamp' })
  const ref = { name: 'a', namespace: 'default' }
  await api.create(CustomResourceDefinition, {
    metadata: { name: 'lamps.example.dev' },
    spec: {
      group: 'example.dev',
      scope: 'Namespaced',
      names: { kind: 'Lamp', plural: 'lamps' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  await expect
    .poll(() => ask(transport, '/apis/example.dev/v1/lamps').then(({ status }) => status), { timeout: 10_000 })
    .toBe(200)
  await api.create(Lamp, { metadata: { ...ref, finalizers: ['example.dev/hold'] } })
  await api.delete(CustomResourceDefinition, { name: 'lamps.example.dev' })
  await expect(api.create(Lamp, { metadata: { ...ref, name: 'b' } })).rejects.toThrow(
    'create not allowed while custom resource definition is terminating',
  )
  await expect
    .poll(() => api.get(Lamp, ref).then(({ metadata }) => metadata.deletionTimestamp), { timeout: 10_000 })
    .toBeDefined()
  await api.patch(Lamp, ref, mergePatch({ metadata: { finalizers: null } }))
  await expect
    .poll(() => ask(transport, '/apis/example.dev/v1/lamps').then(({ status }) => status), { timeout: 10_000 })
    .toBe(404)
  await expect(api.get(CustomResourceDefinition, { name: 'lamps.example.dev' })).rejects.toThrow('not found')
})

test('webhooks mutate and refuse writes', async () => {
  const plane = await start()
  const api = new Client({ transport: plane.transport })
  const authority = createAuthority({ commonName: 'webhook' })
  const { certificate, key } = authority.issue({ commonName: 'localhost', usage: 'server', ipAddresses: ['127.0.0.1'] })
  const webhook = createServer({ cert: certificate, key }, (request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { request: asked } = JSON.parse(text) as { request: { uid: string; name: string } }
      const patch = Buffer.from('[{"op":"add","path":"/data/seen","value":"yes"}]').toString('base64')
      const allowed = asked.name !== 'bad'
      const answer = { uid: asked.uid, allowed, ...(allowed && { patchType: 'JSONPatch', patch }) }
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(review))
    })
  })
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  const { port } = webhook.address() as AddressInfo
  const caBundle = Buffer.from(authority.certificate).toString('base64')
  await api.create(MutatingWebhookConfiguration, {
    metadata: { name: 'w' },
    webhooks: [
      {
        name: 'w.example.dev',
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  })
  expect(await api.create(ConfigMap, map('good', { x: '1' }))).toMatchObject({ data: { x: '1', seen: 'yes' } })
  await expect(api.create(ConfigMap, map('bad'))).rejects.toMatchObject({ status: 400 })
  webhook.closeAllConnections()
  webhook.close()
})

test('stored objects and credentials survive a restart', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tenure-plane-'))
  const first = await start({ directory, port: 0 })
  const created = await new Client({ transport: first.transport }).create(ConfigMap, map('a', { x: '1' }))
  await first.stop()
  const second = await start({ directory, port: 0 })
  expect(second.token).toBe(first.token)
  expect(await new Client({ transport: second.transport }).get(ConfigMap, { name: 'a', namespace: 'default' })).toEqual(
    created,
  )
  await second.stop()
  await rm(directory, { recursive: true })
})

test('a port that is in use is reported, and nothing is left running', async () => {
  const first = await start({ port: 0 })
  const port = Number(new URL(first.url ?? '').port)
  const directory = await mkdtemp(path.join(tmpdir(), 'tenure-plane-'))
  await expect(startControlPlane({ port, controllers: false, directory })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  // The start that failed has released the file.
  await start({ directory })
  await running.pop()?.stop()
  await rm(directory, { recursive: true })
})

test('in virtual time, nothing is left running after the stop', async () => {
  const clock = new VirtualClock()
  const plane = await start({ clock, random: seededRandom(), controllers: true })
  const api = new Client({ transport: plane.transport, clock })
  expect((await api.list(Namespace)).items.length).toBeGreaterThan(3)
  const stopped = plane.stop()
  await clock.advance(10_000)
  await stopped
  expect(clock.pending).toBe(0)
})

test('with controllers and a node, a Deployment becomes available', async () => {
  const plane = await start({ controllers: true })
  const api = new Client({ transport: plane.transport })
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  await api.create(Deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template },
  })
  const isReady = async (): Promise<boolean> =>
    (await api.get(Deployment, { name: 'web', namespace: 'default' })).status?.readyReplicas === 3
  await expect.poll(isReady, { timeout: 15_000 }).toBe(true)
})

/** Sends one request on a connection of its own. */
function http1(
  plane: ControlPlane,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(plane.url ?? '')
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: hostname, port, path, headers, rejectUnauthorized: false, agent: false },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    request.on('error', reject)
    request.end()
  })
}
