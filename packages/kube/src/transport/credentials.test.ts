import { describe, expect, test, vi } from 'vitest'
import { SecretValue } from '../config/secret-value.ts'
import { MemoryFiles } from '../config/testdata/memory-files.ts'
import { configFor, open, serve, text, watch } from './testdata/harness.ts'
import { pem } from './testdata/servers.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { TLSSocket } from 'node:tls'
import type { ExecConfig } from '../config/connection-config.ts'
import type { HttpTransportOptions } from './http-transport.ts'
import type { TestServer } from './testdata/servers.ts'

const needs = (token: string) => (request: { headers: { authorization?: string | undefined } }) =>
  request.headers.authorization === `Bearer ${token}`

const plugin: ExecConfig = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'plugin',
  args: [],
  env: new SecretValue({}),
  interactiveMode: 'Never',
}

/** A server that identifies clients by certificate and accepts those in a set. */
async function serveCertificates(allowed: Set<string>): Promise<TestServer> {
  return serve(
    (request, response) => {
      const name = String((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
      if (request.url === '/watch') response.write(name)
      else response.writeHead(allowed.has(name) ? 200 : 401).end(name)
    },
    'server',
    { requestCert: true, rejectUnauthorized: false, ca: pem('ca.pem') },
  )
}

describe('credentials that change', () => {
  test('a 401 reads a rotated token file again and repeats the request once', async () => {
    let valid = 'one'
    const server = await serve((request, response, body) => {
      response.statusCode = needs(valid)(request) ? 200 : 401
      response.end(body)
    })
    const files = new MemoryFiles({ '/token': 'one' })
    const transport = open(configFor(server, { credential: { kind: 'token-file', path: '/token' } }), { files })
    expect(await text(transport)).toBe('200 ')
    valid = 'two'
    files.write('/token', 'two')
    expect(await text(transport, { method: 'PATCH', path: '/x', body: 'again' })).toBe('200 again')
    expect(server.requests).toEqual(['GET /version', 'PATCH /x', 'PATCH /x'])
    // There is no newer token: the 401 is returned with its body.
    valid = 'three'
    expect(await text(transport, { method: 'PATCH', path: '/y', body: 'no' })).toBe('401 no')
    expect(server.requests.slice(3)).toEqual(['PATCH /y'])
  })

  test('a rejected fixed token is not tried twice', async () => {
    const server = await serve((_request, response) => {
      response.statusCode = 401
      response.end('who?')
    })
    expect(await text(open(configFor(server)))).toBe('401 who?')
    expect(server.requests).toHaveLength(1)
  })

  test('many rejected requests and streams run the plugin once', async () => {
    let runs = 0
    const run: HttpTransportOptions['run'] = (command) => {
      runs += 1
      const { apiVersion } = JSON.parse(command.env['KUBERNETES_EXEC_INFO'] ?? '')
      const status = { token: runs === 1 ? 'old' : 'new' }
      return Promise.resolve({
        exit: 0,
        stderr: '',
        stdout: JSON.stringify({ kind: 'ExecCredential', apiVersion, status }),
      })
    }
    const server = await serve((request, response) => {
      response.statusCode = needs('new')(request) ? 200 : 401
      response.end('x')
    })
    const transport = open(configFor(server, { credential: { kind: 'exec', exec: plugin } }), { run })
    const answers = await Promise.all([...Array.from({ length: 10 }, () => text(transport)), text(transport, watch)])
    expect(new Set(answers)).toEqual(new Set(['200 x']))
    expect(runs).toBe(2)
  })

  test('a new certificate from a plugin opens new connections', async () => {
    const allowed = new Set(['alice'])
    const server = await serveCertificates(allowed)
    let runs = 0
    const run: HttpTransportOptions['run'] = (command) => {
      const name = runs++ === 0 ? 'client-a' : 'client-b'
      const { apiVersion } = JSON.parse(command.env['KUBERNETES_EXEC_INFO'] ?? '')
      const status = { clientCertificateData: pem(`${name}.pem`), clientKeyData: pem(`${name}.key`) }
      return Promise.resolve({
        exit: 0,
        stderr: '',
        stdout: JSON.stringify({ kind: 'ExecCredential', apiVersion, status }),
      })
    }
    const transport = open(configFor(server, { credential: { kind: 'exec', exec: plugin } }), { run })
    expect(await text(transport)).toBe('200 alice')
    allowed.clear()
    allowed.add('bob')
    expect(await Promise.all([text(transport), text(transport)])).toEqual(['200 bob', '200 bob'])
    expect(runs).toBe(2)
  })

  test('rotated certificate files are read within a minute, and open streams continue', async () => {
    const server = await serveCertificates(new Set(['alice', 'bob']))
    const files = new MemoryFiles({ '/ca': pem('ca.pem'), '/cert': pem('client-a.pem'), '/key': pem('client-a.key') })
    const clock = new VirtualClock()
    const tls = { ca: { file: '/ca' }, certificate: { cert: { file: '/cert' }, key: { file: '/key' } } }
    const transport = open(configFor(server, { tls, credential: { kind: 'none' } }), { files, clock })
    const stream = await transport.request(watch)
    const chunks = stream.body[Symbol.asyncIterator]()
    expect(await text(transport)).toBe('200 alice')

    // The certificate does not match the key yet: the old pair stays.
    files.write('/cert', pem('client-b.pem'))
    await clock.advance(60_000)
    expect(await text(transport)).toBe('200 alice')
    files.write('/key', pem('client-b.key'))
    expect(await text(transport)).toBe('200 alice')
    await clock.advance(5_000)
    expect(await text(transport)).toBe('200 bob')

    expect(Buffer.from((await chunks.next()).value ?? '').toString()).toBe('alice')
    // The stream's connection and the new one: the old connection of requests is closed.
    await vi.waitFor(() => expect(server.sockets.size).toBe(2))
    await transport.close()
    await expect(chunks.next()).rejects.toMatchObject({ code: 'TENURE_TRANSPORT_CLOSED' })
    await vi.waitFor(() => expect(server.sockets.size).toBe(0))
  })

  test('a rejected client certificate is read again at once', async () => {
    const allowed = new Set(['alice'])
    const server = await serveCertificates(allowed)
    const files = new MemoryFiles({ '/cert': pem('client-a.pem'), '/key': pem('client-a.key') })
    const tls = {
      ca: { pem: new SecretValue(pem('ca.pem')) },
      certificate: { cert: { file: '/cert' }, key: { file: '/key' } },
    }
    const transport = open(configFor(server, { tls, credential: { kind: 'none' } }), { files })
    expect(await text(transport)).toBe('200 alice')
    allowed.clear()
    allowed.add('bob')
    files.write('/cert', pem('client-b.pem'))
    files.write('/key', pem('client-b.key'))
    expect(await text(transport)).toBe('200 bob')
  })
})
