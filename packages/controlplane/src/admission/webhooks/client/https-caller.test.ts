import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { KubeObject } from '@tenure/kube'
import { defineKind, systemClock } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { AdmissionServer, allow, deny, mutating, validating } from '@tenure/runtime/webhooks'
import { createAuthority } from '@tenure/runtime/certificates'
import { silentLogger } from '@tenure/runtime'
import { afterEach, describe, expect, test } from 'vitest'
import { fieldManagement } from '../../../apply/index.ts'
import { patches } from '../../../patch/index.ts'
import { catalogOf, KINDS } from '../../../registry/testing/catalog.ts'
import { GenericRegistry } from '../../../registry/registry.ts'
import type { ResourceRequest } from '../../../registry/request.ts'
import { process } from '../../../schema/validation/process.ts'
import { openStorage } from '../../../storage/index.ts'
import { createAdmission } from '../../admission.ts'
import { refusal, webhook } from '../../admission.testing.ts'
import type { JsonObject } from '@tenure/kube/model'
import { HttpsCaller } from './https-caller.ts'

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}
const ConfigMap = defineKind<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap' })

const authority = createAuthority({ commonName: 'webhooks' })
const stranger = createAuthority({ commonName: 'another authority' })
const base64 = (text: string): string => Buffer.from(text).toString('base64')

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

/** Starts the runtime's admission server with one mutating and one validating webhook. */
async function serve(): Promise<number> {
  const common = { kind: ConfigMap, failurePolicy: 'Fail' } as const
  const server = new AdmissionServer({
    webhooks: [
      mutating({
        ...common,
        name: 'mutate.example.dev',
        path: '/mutate',
        mutate: ({ object }) => ({ ...object, data: { ...object?.data, seen: 'yes' } }),
      }),
      validating({
        ...common,
        name: 'validate.example.dev',
        path: '/validate',
        validate: ({ object }) => (object?.data?.['bad'] ? deny('bad is bad') : allow()),
      }),
    ],
    certificates: {
      serving: authority.issue({
        commonName: 'hooks',
        usage: 'server',
        ipAddresses: ['127.0.0.1'],
        dnsNames: ['hooks.tools.svc'],
      }),
      subscribe: () => () => undefined,
    },
    port: 0,
    host: '127.0.0.1',
  })
  await server.listen()
  cleanUps.push(() => server.close(0))
  return server.port
}

async function start(port: number) {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const storage = await openStorage({ clock, log: silentLogger })
  const catalog = catalogOf()
  const admission = createAdmission({
    storage,
    catalog,
    clock: systemClock,
    random,
    resolveService: () => ({ host: '127.0.0.1', port }),
  })
  cleanUps.push(
    () => storage.close(),
    () => admission.close(),
  )
  const registry = new GenericRegistry({
    storage,
    catalog,
    process,
    patches,
    fields: fieldManagement,
    admission,
    clock,
    random,
  })
  await storage.write('namespaces', 'default', () => ({
    put: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } } as KubeObject,
  }))
  const create = (data: JsonObject) =>
    registry.handle({
      verb: 'create',
      definition: KINDS.configMap,
      subresource: '',
      namespace: 'default',
      name: undefined,
      options: {},
      body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'a-' }, data },
      user: { name: 'jane', groups: [] },
      userAgent: 'test',
      signal: new AbortController().signal,
    } satisfies ResourceRequest)
  const configure = (type: string, clientConfig: JsonObject) =>
    storage.write(`${type}webhookconfigurations.admissionregistration.k8s.io`, 'a', () => ({
      put: { metadata: { name: 'a' }, webhooks: [webhook('one', { clientConfig })] } as unknown as KubeObject,
    }))
  return { create, configure }
}

describe('webhooks over HTTPS', () => {
  test('webhooks of the runtime change and refuse created objects', async () => {
    const port = await serve()
    const { create, configure } = await start(port)
    const caBundle = base64(authority.certificate)
    await configure('mutating', { url: `https://127.0.0.1:${port}/mutate`, caBundle })
    await configure('validating', {
      service: { namespace: 'tools', name: 'hooks', port: 443, path: '/validate' },
      caBundle,
    })
    expect(await create({ a: '1' })).toMatchObject({ stored: { object: { data: { a: '1', seen: 'yes' } } } })
    expect(await refusal(create({ bad: '1' }))).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: 'admission webhook "one.example.dev" denied the request: bad is bad',
    })
  })

  test('the certificate must match the authority and the name of the Service', async () => {
    const port = await serve()
    const { create, configure } = await start(port)
    const url = `https://127.0.0.1:${port}/validate`
    const failed = `failed calling webhook "one.example.dev": failed to call webhook: Post "${url}?timeout=10s": `
    await configure('validating', { url, caBundle: base64(stranger.certificate) })
    expect((await refusal(create({}))).message).toBe(
      `Internal error occurred: ${failed}tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    )
    const caBundle = base64(authority.certificate)
    await configure('validating', { service: { namespace: 'tools', name: 'other', port: 443, path: '/' }, caBundle })
    expect((await refusal(create({}))).message).toContain(
      'x509: certificate is valid for hooks.tools.svc, not other.tools.svc',
    )
  })

  test('a serving certificate in the bundle is trusted without its authority', async () => {
    const { certificate: cert, key } = authority.issue({ commonName: 'a', usage: 'server', ipAddresses: ['127.0.0.1'] })
    const other = authority.issue({ commonName: 'a', usage: 'server', ipAddresses: ['127.0.0.1'] })
    const server = createServer({ cert, key }, (_request, response) => response.end('fine'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const caller = new HttpsCaller()
    cleanUps.push(
      () => server.close(),
      () => caller.close(),
    )
    const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const post = { url, body: '{}', signal: new AbortController().signal }
    expect(await caller.post({ ...post, certificateAuthority: cert })).toMatchObject({ status: 200, body: 'fine' })
    await expect(caller.post({ ...post, certificateAuthority: other.certificate })).rejects.toThrow('x509')
  })

  test('a refused connection fails the request', async () => {
    const { create, configure } = await start(1)
    // Nothing listens on port 1 of the loopback.
    await configure('validating', { url: 'https://127.0.0.1:1/validate' })
    expect((await refusal(create({}))).message).toContain(
      'Post "https://127.0.0.1:1/validate?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
    )
  })

  test('a call on a closed kept-alive connection is retried once', async () => {
    const served = new Map<unknown, number>()
    const { certificate: cert, key } = authority.issue({ commonName: 'a', usage: 'server', ipAddresses: ['127.0.0.1'] })
    const server = createServer({ cert, key }, (request, response) => {
      const before = served.get(request.socket) ?? 0
      served.set(request.socket, before + 1)
      // Every connection serves one response.
      if (before > 0 || request.url === '/never') request.socket.destroy()
      else response.end('fine')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const caller = new HttpsCaller()
    cleanUps.push(
      () => server.close(),
      () => caller.close(),
    )
    const { port } = server.address() as AddressInfo
    const post = { certificateAuthority: authority.certificate, body: '{}', signal: new AbortController().signal }
    const url = new URL(`https://127.0.0.1:${port}/`)
    expect(await caller.post({ ...post, url })).toMatchObject({ status: 200, body: 'fine' })
    expect(await caller.post({ ...post, url })).toMatchObject({ status: 200, body: 'fine' })
    expect([...served.values()]).toEqual([2, 1])
    await expect(caller.post({ ...post, url: new URL('/never', url) })).rejects.toThrow('EOF')
    expect([...served.values()]).toEqual([2, 2, 1])
  })

  test('aborting the signal ends a running call', async () => {
    const received = Promise.withResolvers<void>()
    const { certificate: cert, key } = authority.issue({ commonName: 'a', usage: 'server', ipAddresses: ['127.0.0.1'] })
    const server = createServer({ cert, key }, () => received.resolve())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const caller = new HttpsCaller()
    cleanUps.push(
      () => server.close(),
      () => caller.close(),
    )
    const { port } = server.address() as AddressInfo
    const controller = new AbortController()
    const url = new URL(`https://127.0.0.1:${port}/`)
    const response = caller.post({
      url,
      certificateAuthority: authority.certificate,
      body: '{}',
      signal: controller.signal,
    })
    await received.promise
    controller.abort(new Error('context deadline exceeded'))
    await expect(response).rejects.toThrow('context deadline exceeded')
  })

  test('an aborted signal or a closed caller rejects the call', async () => {
    const port = await serve()
    const caller = new HttpsCaller()
    cleanUps.push(() => caller.close())
    const url = new URL(`https://127.0.0.1:${port}/validate`)
    const aborted = AbortSignal.abort(new Error('context deadline exceeded'))
    const post = { url, certificateAuthority: authority.certificate, body: '{}' }
    await expect(caller.post({ ...post, signal: aborted })).rejects.toThrow('context deadline exceeded')
    const { signal } = new AbortController()
    expect(await caller.post({ ...post, signal })).toMatchObject({ status: 400 })
    caller.close()
    await expect(caller.post({ ...post, signal })).rejects.toThrow('the control plane is stopping')
  })
})
