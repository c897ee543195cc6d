import { createServer } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { connectTo } from '../config/connection-config.ts'
import { ConnectionError } from '../errors/errors.ts'
import { get, keep, open } from './testdata/harness.ts'
import { pem, startPlainServer, startServer } from './testdata/servers.ts'
import type { AddressInfo } from 'node:net'
import type { ConnectionConfig, DirectConnection } from '../config/connection-config.ts'
import type { HttpTransportOptions } from './http-transport.ts'

const config = (port: number, change: Partial<DirectConnection> = {}): ConnectionConfig =>
  connectTo({ server: `https://127.0.0.1:${port}`, ca: pem('ca.pem'), origin: 'context "dev" of /k', ...change })

/** The error of a GET, which must be one sentence about this server. */
async function failure(config: ConnectionConfig, options: HttpTransportOptions = {}): Promise<ConnectionError> {
  const error: unknown = await open(config, options)
    .request(get)
    .then(
      () => new Error('The request succeeded'),
      (thrown: unknown) => thrown,
    )
  if (!(error instanceof ConnectionError)) throw error
  expect(error.message).not.toContain('\n')
  expect(error.message).toContain('context "dev" of /k')
  expect(error.cause).toBeInstanceOf(Error)
  return error
}

const ok = () => startServer((_request, response) => response.end('ok'))

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('no connection', () => {
  test('a refused connection is reported', async () => {
    const port = await freePort()
    const error = await failure(config(port))
    expect(error).toMatchObject({
      code: 'TENURE_CONNECTION_REFUSED',
      fate: 'retry',
      message: `Nothing listens at the API server's address https://127.0.0.1:${port} (context "dev" of /k): start the server or correct the address.`,
    })
    expect((await failure(config(port, { server: `https://localhost:${port}` }))).code).toBe(
      'TENURE_CONNECTION_REFUSED',
    )
  })

  test('an unknown host is reported', async () => {
    const error = await failure(config(1, { server: 'https://no-such-host.invalid' }))
    expect(error.code).toBe('TENURE_CONNECTION_UNKNOWN_HOST')
  })

  test('a server that accepts and sends nothing is reported', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect((await failure(config(port), { connectTimeout: 100 })).code).toBe('TENURE_CONNECTION_UNREACHABLE')
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('TLS', () => {
  test('an unknown authority is reported', async () => {
    const server = keep(await ok())
    for (const ca of [pem('other-ca.pem'), undefined]) {
      const { tls, ...rest } = config(server.port)
      const error = await failure({ ...rest, tls: ca === undefined ? {} : config(server.port, { ca }).tls })
      expect(error).toMatchObject({
        code: 'TENURE_TLS_UNKNOWN_AUTHORITY',
        message: expect.stringMatching(/set the cluster's certificate-authority/),
      })
      expect(tls.ca).toBeDefined()
    }
  })

  test('a certificate for another name is reported, and tls-server-name fixes it', async () => {
    const server = keep(await startServer((_request, response) => response.end('ok'), 'other-name'))
    const wrong = config(server.port)
    expect(await failure(wrong)).toMatchObject({
      code: 'TENURE_TLS_WRONG_NAME',
      message: expect.stringMatching(/another name than 127\.0\.0\.1: .*tls-server-name/),
    })
    const right = open({ ...wrong, tls: { ...wrong.tls, serverName: 'kubernetes.test' } })
    expect((await right.request(get)).status).toBe(200)
  })

  test('an expired certificate is reported unless insecure-skip-tls-verify is set', async () => {
    const server = keep(await startServer((_request, response) => response.end('ok'), 'expired'))
    expect(await failure(config(server.port))).toMatchObject({
      code: 'TENURE_TLS_EXPIRED',
      message: expect.stringMatching(/has expired/),
    })
    expect(
      (await open(connectTo({ server: `https://127.0.0.1:${server.port}`, insecure: true })).request(get)).status,
    ).toBe(200)
  })

  test('https to an http port and http to an https port are reported', async () => {
    const plain = keep(await startPlainServer((_request, response) => response.end('ok')))
    expect((await failure(config(plain.port))).code).toBe('TENURE_TLS_NOT_SPOKEN')
    expect((await open(connectTo({ server: `http://127.0.0.1:${plain.port}` })).request(get)).status).toBe(200)
  })

  test('a missing client certificate is reported', async () => {
    const server = keep(
      await startServer((_request, response) => response.end('ok'), 'server', {
        requestCert: true,
        rejectUnauthorized: true,
        ca: pem('ca.pem'),
      }),
    )
    expect((await failure(config(server.port))).fate).toBe('retry')
    const certificate = { cert: pem('client-a.pem'), key: pem('client-a.key') }
    expect((await open(config(server.port, { certificate })).request(get)).status).toBe(200)
  })

  test('unusable certificates are reported', async () => {
    const certificate = { cert: pem('client-a.pem'), key: pem('client-b.key') }
    expect(await failure(config(1, { certificate }))).toMatchObject({
      code: 'TENURE_KUBECONFIG_CERTIFICATE',
      message: expect.stringMatching(/must belong to the client certificate/),
    })
  })
})

describe('no response', () => {
  test('missing headers time out, for requests and streams', async () => {
    const server = keep(await startServer(() => undefined))
    const transport = open(config(server.port), { headersTimeout: 100 })
    for (const stream of [false, true]) {
      await expect(transport.request({ ...get, stream })).rejects.toMatchObject({
        code: 'TENURE_CONNECTION_TIMEOUT',
        message: expect.stringMatching(/did not answer GET \/version in time/),
      })
    }
    await vi.waitFor(() => expect(server.sockets.size).toBe(0))
  })

  test('a stalled response times out a request, but not a stream', async () => {
    const server = keep(
      await startServer((_request, response) => response.writeHead(200, { 'content-length': '100' }).write('half')),
    )
    const transport = open(config(server.port), { bodyTimeout: 100 })
    const stream = await transport.request({ ...get, stream: true })
    const request = await transport.request(get)
    await expect(request.body.text()).rejects.toMatchObject({ code: 'TENURE_CONNECTION_TIMEOUT' })
    const chunks = stream.body[Symbol.asyncIterator]()
    expect((await chunks.next()).done).toBe(false)
    // The stream is open long after the request has timed out; then the server drops it.
    const dropped = chunks.next().catch((error: unknown) => error)
    expect(server.sockets.size).toBeGreaterThan(0)
    for (const socket of server.sockets) socket.destroy()
    expect(await dropped).toMatchObject({ code: 'TENURE_CONNECTION_BROKEN', fate: 'retry' })
  })

  test('a connection that breaks before the response is reported', async () => {
    const server = keep(await startServer((request) => request.socket.destroy()))
    expect(await failure(config(server.port))).toMatchObject({
      code: 'TENURE_CONNECTION_BROKEN',
      message: expect.stringMatching(/broke during GET \/version/),
    })
  })

  test('an invalid request is terminal', async () => {
    const server = keep(await ok())
    const transport = open(config(server.port))
    await expect(transport.request({ ...get, path: '/a b' })).rejects.toMatchObject({
      code: 'TENURE_REQUEST_INVALID',
      fate: 'terminal',
    })
  })
})
