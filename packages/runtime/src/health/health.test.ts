import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { systemClock } from '@tenure/kube'
import { VirtualClock, settle } from '@tenure/kube/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { noMetrics } from '../metrics/metrics.ts'
import { formatAddress, parseAddress } from './address.ts'
import { Probes } from './probes.ts'
import type { Served } from './serve.ts'
import { serve, serveMetrics, serveProbes } from './serve.ts'

const open: Served[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((served) => served.close(0)))
})

async function serving(promise: Promise<Served | undefined>): Promise<Served> {
  const served = await promise
  if (!served) throw new Error('serves nothing')
  open.push(served)
  return served
}

function call(port: number, path: string, method = 'GET'): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.on('error', reject)
    request.end()
  })
}

describe('parseAddress', () => {
  test.each([
    [':8081', { host: undefined, port: 8081 }],
    ['0.0.0.0:8081', { host: '0.0.0.0', port: 8081 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:8081', { host: '::1', port: 8081 }],
    ['[fe80::1%eth0]:1', { host: 'fe80::1%eth0', port: 1 }],
    ['0', undefined],
    ['', undefined],
  ])('%j is a listen address', (text, address) => {
    expect(parseAddress(text)).toEqual(address)
    expect(address ? formatAddress(address) : text).toBe(text)
  })

  test.each(['8081', ':', ':65536', '::1:80', 'http://x:80', 'a b:80', ':80 ', ':-1', ':0x50', 'host'])(
    '%j is rejected',
    (text) => {
      expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'TENURE_ADDRESS_INVALID' }))
    },
  )
})

describe('Probes', () => {
  test('the probes answer in the format of the Kubernetes components', async () => {
    const probes = new Probes({ clock: systemClock })
    let problem: string | undefined
    probes.add('ready', 'informers', () => {
      if (problem) throw new Error(problem)
    })
    const { port } = await serving(serveProbes(probes, { address: '127.0.0.1:0', clock: systemClock }))
    expect(await call(port, '/readyz')).toEqual({ status: 200, type: 'text/plain; charset=utf-8', text: 'ok' })
    expect(await call(port, '/readyz?verbose')).toMatchObject({
      status: 200,
      text: '[+]ping ok\n[+]informers ok\nreadyz check passed\n',
    })
    problem = 'pods: watch down\nfor 30 s'
    expect(await call(port, '/readyz')).toMatchObject({
      status: 503,
      text: '[+]ping ok\n[-]informers failed: pods: watch down for 30 s\nreadyz check failed\n',
    })
    expect(await call(port, '/readyz?exclude=informers')).toMatchObject({ status: 200, text: 'ok' })
    expect(await call(port, '/readyz/informers')).toMatchObject({
      status: 503,
      text: expect.stringContaining('watch down'),
    })
    expect(await call(port, '/readyz/ping')).toMatchObject({ status: 200, text: 'ok' })
    expect(await call(port, '/livez')).toMatchObject({ status: 200, text: 'ok' })
    expect(await call(port, '/healthz?verbose=1')).toMatchObject({ text: '[+]ping ok\nhealthz check passed\n' })
    for (const path of [
      '/',
      '/readyz/none',
      '/livez/informers',
      '/readyz/ping/more',
      '/toString',
      '//',
      '/%zz',
      '/__proto__',
    ]) {
      expect({ path, ...(await call(port, path)) }).toMatchObject({ path, status: 404 })
    }
    expect(await call(port, '/readyz', 'POST')).toMatchObject({ status: 405 })
    expect(await call(port, '/livez', 'HEAD')).toMatchObject({ status: 200, text: '' })
  })

  test('a check that hangs counts as failed and its signal aborts', async () => {
    const clock = new VirtualClock()
    const probes = new Probes({ clock, checkTimeout: 1_000 })
    let notified = false
    probes.add('live', 'hangs', (signal) => {
      signal.addEventListener('abort', () => (notified = true))
      return new Promise<void>(() => undefined)
    })
    const results = probes.check('live')
    await clock.advance(1_000)
    expect(await results).toEqual([
      { name: 'ping', problem: undefined },
      { name: 'hangs', problem: 'no response within 1000 ms' },
    ])
    expect(notified).toBe(true)
    expect(clock.pending).toBe(0)
  })

  test('a check name is unique and can be reused after removal', async () => {
    const probes = new Probes({ clock: systemClock })
    const remove = probes.add('ready', 'cache', () => Promise.reject(new Error('cold')))
    expect(() => probes.add('ready', 'cache', () => undefined)).toThrow('already exists')
    expect(() => probes.add('ready', 'a/b', () => undefined)).toThrow('may contain only')
    expect(await probes.check('ready')).toMatchObject([{}, { problem: 'cold' }])
    remove()
    remove()
    expect(await probes.check('ready')).toHaveLength(1)
  })
})

describe('serve', () => {
  test('the address 0 disables the server', async () => {
    expect(await serveMetrics(noMetrics, { address: '0', clock: systemClock })).toBeUndefined()
  })

  test('metrics are served, and a collection failure is a 500', async () => {
    let fails = false
    const metrics = {
      ...noMetrics,
      expose: () =>
        fails ? Promise.reject(new Error('x')) : Promise.resolve({ contentType: 'text/plain; v=1', text: 'up 1\n' }),
    }
    const { port } = await serving(serveMetrics(metrics, { address: '127.0.0.1:0', clock: systemClock }))
    expect(await call(port, '/metrics?x')).toEqual({ status: 200, type: 'text/plain; v=1', text: 'up 1\n' })
    expect(await call(port, '/other')).toMatchObject({ status: 404 })
    fails = true
    expect(await call(port, '/metrics')).toMatchObject({ status: 500 })
  })

  test('the error for a taken port names the port and the remedy', async () => {
    const probes = new Probes({ clock: systemClock })
    const first = await serving(serveProbes(probes, { address: '127.0.0.1:0', clock: systemClock }))
    expect(first.address).toBe(`127.0.0.1:${first.port}`)
    const options = { address: first.address, clock: systemClock, setting: '--health-probe-bind-address' }
    await expect(serveProbes(probes, options)).rejects.toMatchObject({
      code: 'TENURE_PORT_TAKEN',
      message: expect.stringMatching(
        new RegExp(
          `^Port ${first.port} for probes \\(${first.address}\\) is taken by .*; stop it, or choose another with --health-probe-bind-address.$`,
        ),
      ),
    })
    await expect(serveProbes(probes, { ...options, address: '192.0.2.1:1' })).rejects.toMatchObject({
      code: 'TENURE_ADDRESS_UNAVAILABLE',
      message:
        '192.0.2.1 for probes is not an address of this machine; set --health-probe-bind-address to one that is.',
    })
  })

  test('the server limits headers and bodies', async () => {
    const probes = new Probes({ clock: systemClock })
    const { port } = await serving(serveProbes(probes, { address: '127.0.0.1:0', clock: systemClock }))
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`GET /livez HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n`),
      )
      let text = ''
      socket.on('data', (chunk) => (text += String(chunk)))
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
    expect(answer).toContain('431')
  })

  test('a hanging request delays close by the grace period only, and closing twice is allowed', async () => {
    const clock = new VirtualClock()
    const arrival = Promise.withResolvers<void>()
    const served = await serve(() => arrival.resolve(), { address: '127.0.0.1:0', clock, what: 'test' })
    const failed = call(served?.port ?? 0, '/').then(
      () => 'answered',
      () => 'cut off',
    )
    await arrival.promise
    let closed = false
    const closing = served?.close(1_000).then(() => (closed = true))
    await clock.advance(999)
    await settle()
    expect(closed).toBe(false)
    await clock.advance(1)
    await closing
    expect(await failed).toBe('cut off')
    await served?.close()
    expect(clock.pending).toBe(0)
  })
})
