import { Agent, request as httpsRequest } from 'node:https'
import { connect as tcpConnect, type Socket } from 'node:net'
import { connect as tlsConnect, type TLSSocket } from 'node:tls'
import { systemClock } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { createAuthority, type CertificateWithKey } from '../certificates/index.ts'
import type { HistogramSnapshot, Instrument, MetricLabels, Metrics } from '../metrics/metrics.ts'
import { noMetrics } from '../metrics/metrics.ts'
import { requestTimeout } from './request-timeout.ts'
import { type Response, reviewOf, Website } from './review.testing.ts'
import { AdmissionServer, type AdmissionServerOptions } from './server.ts'
import { allow, deny } from './admission-result.ts'
import { validating } from './webhook.ts'

const authority = createAuthority({ commonName: 'test ca' })
const issue = (): CertificateWithKey =>
  authority.issue({ commonName: 'web', usage: 'server', ipAddresses: ['127.0.0.1'] })

class Source {
  serving = issue()
  readonly listeners = new Set<() => void>()
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  replace(): void {
    this.serving = issue()
    for (const listener of this.listeners) listener()
  }
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.resume()
  })
}

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

async function serve(options: Partial<AdmissionServerOptions> = {}) {
  const source = new Source()
  const webhook = validating({
    name: 'websites.example.dev',
    path: '/validate',
    kind: Website,
    failurePolicy: 'Fail',
    validate: ({ object }) => (object?.spec?.host ? allow() : deny('no host')),
  })
  const server = new AdmissionServer({
    webhooks: [webhook],
    certificates: source,
    port: 0,
    host: '127.0.0.1',
    ...options,
  })
  await server.listen()
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate })
  cleanUps.push(
    () => server.close(0),
    () => agent.destroy(),
  )
  return { server, source, agent, port: server.port }
}

interface Call {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

interface CallResult {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: { readonly response?: Response; readonly message?: string }
  readonly reused: boolean
  readonly serial: string
}

function call({ port, agent }: { port: number; agent: Agent }, options: Call = {}): Promise<CallResult> {
  return new Promise((resolve, reject) => {
    const { path = '/validate?timeout=10s', method = 'POST', body = JSON.stringify(reviewOf()) } = options
    const headers = { 'content-type': 'application/json', ...options.headers }
    const request = httpsRequest({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
      const { socket } = response
      const serial = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate().serialNumber : ''
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: JSON.parse(text) as CallResult['body'],
          reused: request.reusedSocket,
          serial,
        }),
      )
    })
    request.on('error', reject).end(body)
  })
}

const snapshot = (): HistogramSnapshot => ({ le: [], counts: [], sum: 0, count: 0 })

describe('an admission server', () => {
  test('reviews are answered over TLS on a persistent connection', async () => {
    const served = await serve()
    const first = await call(served)
    expect(first).toMatchObject({ status: 200, body: { response: { uid: 'u-1', allowed: true } }, reused: false })
    const second = await call(served, { body: JSON.stringify(reviewOf({ object: {} })) })
    expect(second).toMatchObject({
      body: { response: { allowed: false, status: { message: 'no host' } } },
      reused: true,
    })
  })

  test.each<[string, Call, number, string]>([
    ['an unknown path', { path: '/other' }, 404, 'No webhook is served at this path'],
    ['another method', { method: 'PUT' }, 405, 'sent with POST'],
    ['no body with GET', { method: 'GET', body: '' }, 405, 'sent with POST'],
    ['another content type', { headers: { 'content-type': 'text/plain' } }, 415, 'application/json'],
    ['a content type alike', { headers: { 'content-type': 'application/jsonx' } }, 415, 'application/json'],
    ['invalid JSON', { body: '{' }, 400, 'not JSON'],
    ['a body too large by its header', { body: 'x'.repeat(2000) }, 413, '1000 bytes'],
    [
      'a body too large on the way',
      { body: Buffer.alloc(300_000), headers: { 'transfer-encoding': 'chunked' } },
      413,
      '1000 bytes',
    ],
  ])('%s is rejected and the server keeps serving', async (_, options, status, message) => {
    const served = await serve({ maxBodyBytes: 1000 })
    const answer = await call(served, options)
    expect(answer.status).toBe(status)
    expect(answer.body.message).toContain(message)
    expect((await call(served)).status).toBe(200)
  })

  test('a review with two objects of maximum size is accepted', async () => {
    const served = await serve()
    const object = { spec: { host: 'x'.repeat(3 * 1024 * 1024) } }
    const body = JSON.stringify(reviewOf({ operation: 'UPDATE', object, oldObject: object }))
    expect(await call(served, { body, headers: { 'content-type': 'application/json; charset=utf-8' } })).toMatchObject({
      status: 200,
      body: { response: { allowed: true } },
    })
  })

  test('clients without TLS or HTTP, or that disconnect, do not stop the server', async () => {
    const served = await serve()
    const plain = tcpConnect(served.port, '127.0.0.1')
    plain.write('GET / HTTP/1.1\r\n\r\n')
    await ended(plain)
    const rubbish = tlsConnect({ port: served.port, host: '127.0.0.1', ca: authority.certificate })
    rubbish.write('rubbish\r\n\r\n')
    await ended(rubbish)
    const leaver = tlsConnect({ port: served.port, host: '127.0.0.1', ca: authority.certificate }, () => {
      const head =
        'POST /validate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{'
      leaver.write(head, () => leaver.destroy())
    })
    await ended(leaver)
    expect((await call(served)).status).toBe(200)
  })

  test.each(['content-length: 9999', 'transfer-encoding: chunked'])(
    'a review with %s that is cut off is not handled',
    async (framing) => {
      let handled = 0
      const webhook = validating({
        name: 'counted.example.dev',
        path: '/validate',
        kind: Website,
        failurePolicy: 'Fail',
        validate: () => {
          handled++
          return allow()
        },
      })
      const served = await serve({ webhooks: [webhook] })
      const review = JSON.stringify(reviewOf())
      const body = framing.startsWith('content') ? review : `${review.length.toString(16)}\r\n${review}\r\n`
      for (const cut of ['end', 'destroy'] as const) {
        const socket = tlsConnect({ port: served.port, host: '127.0.0.1', ca: authority.certificate }, () => {
          const head = `POST /validate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`
          socket.write(`${head}${body}`, () => socket[cut]())
        })
        await ended(socket)
      }
      expect((await call(served)).status).toBe(200)
      expect(handled).toBe(1)
    },
  )

  test('new connections get a new certificate and old ones stay open', async () => {
    const served = await serve()
    const old = await call(served)
    served.source.replace()
    const kept = await call(served)
    expect(kept).toMatchObject({ reused: true, serial: old.serial })
    const fresh = new Agent({ ca: authority.certificate })
    cleanUps.push(() => fresh.destroy())
    const renewed = await call({ ...served, agent: fresh })
    expect(renewed.status).toBe(200)
    expect(renewed.serial).not.toBe(old.serial)
  })

  test('a connection is closed after callsPerConnection calls', async () => {
    const served = await serve({ callsPerConnection: 2 })
    const answers = [await call(served), await call(served), await call(served)]
    expect(answers.map(({ status, reused }) => [status, reused])).toEqual([
      [200, false],
      [200, true],
      [200, false],
    ])
  })

  test('close waits for calls in flight and keeps no connection', async () => {
    const { opened, open } = gate()
    const entered = gate()
    const webhook = validating({
      name: 'slow.example.dev',
      path: '/validate',
      kind: Website,
      failurePolicy: 'Fail',
      validate: async () => {
        entered.open()
        await opened
        return allow()
      },
    })
    const served = await serve({ webhooks: [webhook] })
    const answer = call(served)
    await entered.opened
    const closed = served.server.close()
    await expect(call({ ...served, agent: new Agent() })).rejects.toThrow('ECONNREFUSED')
    open()
    expect(await answer).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await closed
    expect(served.source.listeners.size).toBe(0)
  })

  test('close does not wait for connections without a request', async () => {
    // The clock stands still: close must not wait for a timer.
    const served = await serve({ clock: new VirtualClock() })
    const socket = tlsConnect({ port: served.server.port, host: '127.0.0.1', ca: authority.certificate })
    await new Promise((resolve) => socket.once('secureConnect', resolve))
    const speechless = tcpConnect(served.server.port, '127.0.0.1')
    await new Promise((resolve) => speechless.once('connect', resolve))
    // By then the server has accepted the earlier connections.
    expect(await call(served)).toMatchObject({ status: 200 })
    const gone = Promise.all([ended(socket), ended(speechless)])
    const began = systemClock.monotonic()
    await served.server.close()
    await gone
    // Node gives up on a handshake after ten seconds.
    expect(systemClock.monotonic() - began).toBeLessThan(8_000)
    expect([socket.destroyed, speechless.destroyed]).toEqual([true, true])
  })

  test('calls that outlast the grace period are aborted', async () => {
    const clock = new VirtualClock()
    const entered = gate()
    const left = gate()
    const webhook = validating({
      name: 'stuck.example.dev',
      path: '/validate',
      kind: Website,
      failurePolicy: 'Fail',
      validate: (_, { signal }) => {
        signal.addEventListener('abort', left.open)
        entered.open()
        return new Promise(() => undefined)
      },
    })
    const served = await serve({ webhooks: [webhook], clock })
    const answer = call(served)
    answer.catch(() => undefined)
    await entered.opened
    const closed = served.server.close(2000)
    await clock.advance(2000)
    await Promise.all([closed, left.opened])
    await expect(answer).rejects.toThrow('socket hang up')
    expect(clock.pending).toBe(0)
  })

  test('the error names a taken port', async () => {
    const { port } = await serve()
    await expect(serve({ port })).rejects.toThrow(
      new RegExp(`^Port ${port} for webhooks .* is taken by .* WEBHOOK_PORT\\.$`),
    )
  })

  test('two webhooks with the same path are rejected', () => {
    const webhook = validating({ name: 'a.example.dev', kind: Website, failurePolicy: 'Fail', validate: () => allow() })
    const options = { webhooks: [webhook, webhook], certificates: new Source() }
    expect(() => new AdmissionServer(options)).toThrow('a different path')
  })

  test('metrics have the names of controller-runtime', async () => {
    const series = new Map<string, number[]>()
    const family = ({ name }: Instrument) => ({
      with: (labels: MetricLabels) => {
        const key = `${name} ${Object.values(labels).join(' ')}`
        const note = (value = 1): void => void series.set(key, [...(series.get(key) ?? []), value])
        return { inc: note, dec: (value = 1) => note(-value), set: note, observe: note, snapshot }
      },
      remove: () => undefined,
    })
    const metrics: Metrics = { ...noMetrics, counter: family, gauge: family, histogram: family }
    const served = await serve({ metrics })
    await call(served)
    await call(served, { body: '{' })
    expect(series.get('controller_runtime_webhook_requests_total /validate 200')).toEqual([0, 1])
    expect(series.get('controller_runtime_webhook_requests_total /validate 500')).toEqual([0])
    expect(series.get('controller_runtime_webhook_requests_total /validate 400')).toEqual([1])
    expect(series.get('controller_runtime_webhook_requests_in_flight /validate')).toEqual([1, -1, 1, -1])
    expect(series.get('controller_runtime_webhook_latency_seconds /validate')).toHaveLength(2)
  })
})

describe('requestTimeout', () => {
  test('the timeout in the query is a Go duration', () => {
    expect(requestTimeout('timeout=10s')).toBe(10_000)
    expect(requestTimeout('a=b&timeout=1m0.5s')).toBe(60_500)
    for (const query of ['', 'timeout=', 'timeout=10', 'timeout=-1s', 'timeout=0s', 'timeout=soon']) {
      expect(requestTimeout(query)).toBeUndefined()
    }
  })
})
