import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { systemClock } from '@tenure/kube'
import { afterEach, expect, test } from 'vitest'
import { route } from '../routes/route.ts'
import { call, closeAll, serving } from '../server/server.testing.ts'
import { SseHub } from './hub.ts'

/** Generous for slow machines: polling ends with its condition. */
const POLL = { timeout: 15_000 }

const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await closeAll()
})

function watching(hub: SseHub<undefined>) {
  return serving([
    route({
      method: 'GET',
      path: '/watch',
      summary: 'x',
      responses: {},
      handle: ({ headers, signal }) => {
        const id = headers['last-event-id']
        return hub.open({ signal, lastEventId: typeof id === 'string' ? id : undefined })
      },
    }),
  ])
}

/** Opens a stream on its own socket; resolves when the headers have arrived. */
function open(port: number, isPaused = false): Promise<{ readonly socket: Socket; text(): string }> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /watch HTTP/1.1\r\nhost: localhost\r\n\r\n'))
    sockets.push(socket)
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (!text.includes('\r\n\r\n')) return
      if (isPaused) socket.pause()
      resolve({ socket, text: () => text })
    })
  })
}

const big = 'x'.repeat(10_000)
const publish = (hub: SseHub<undefined>, id: number, data: unknown = id): void =>
  hub.publish({ id: String(id), data, about: undefined })

test('the headers are sent at once, and events when they happen', async () => {
  const hub = new SseHub<undefined>({ clock: systemClock, name: 'test' })
  const { listening } = await watching(hub)
  const { text } = await open(listening.port)
  expect(text()).toContain('HTTP/1.1 200 OK')
  expect(text()).toContain('content-type: text/event-stream; charset=utf-8')
  expect(text()).not.toContain('id:')
  await expect.poll(() => hub.readers, POLL).toBe(1)
  publish(hub, 1)
  await expect.poll(text, POLL).toContain('id: 1\ndata: 1\n\n')
  expect(await call(`${listening.url}/watch`, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  expect(await call(`${listening.url}/watch`, { headers: { 'last-event-id': '77' } })).toMatchObject({ status: 410 })
})

test('a disconnected reader is removed', async () => {
  const hub = new SseHub<undefined>({ clock: systemClock, name: 'test' })
  const { listening, metrics } = await watching(hub)
  const [first, second] = await Promise.all([open(listening.port), open(listening.port)])
  await expect.poll(() => hub.readers, POLL).toBe(2)
  expect((await metrics.expose()).text).toContain('http_streams_open 2')
  first.socket.destroy()
  await expect.poll(() => hub.readers, POLL).toBe(1)
  second.socket.end()
  await expect.poll(() => hub.readers, POLL).toBe(0)
  await expect.poll(async () => (await metrics.expose()).text, POLL).toContain('http_streams_open 0')
})

test('a reader that stops reading is disconnected, others continue, and memory stays bounded', async () => {
  const hub = new SseHub<undefined>({ clock: systemClock, name: 'test', bufferBytes: 500_000, batchInterval: 0 })
  const { listening } = await watching(hub)
  const slow = await open(listening.port, true)
  const fast = await open(listening.port)
  await expect.poll(() => hub.readers, POLL).toBe(2)
  let id = 0
  while (hub.readers === 2) {
    publish(hub, ++id, big)
    // The fast reader keeps up, also on a slow machine.
    while (fast.text().length < id * big.length) await new Promise((resolve) => setImmediate(resolve))
    if (id > 20_000) throw new Error('never cut off')
  }
  expect(hub.readers).toBe(1)
  await expect.poll(fast.text, { timeout: 10_000 }).toContain(`id: ${id}\n`)
  slow.socket.destroy()
}, 60_000)

test('a thousand idle readers all get an event', async () => {
  const hub = new SseHub<undefined>({ clock: systemClock, name: 'test' })
  const { listening, server } = await watching(hub)
  const readers: Awaited<ReturnType<typeof open>>[] = []
  for (let batch = 0; batch < 20; batch++) {
    readers.push(...(await Promise.all(Array.from({ length: 50 }, () => open(listening.port)))))
  }
  await expect.poll(() => hub.readers, { timeout: 20_000 }).toBe(1_000)
  publish(hub, 1)
  publish(hub, 2)
  await expect
    .poll(() => readers.every(({ text }) => text().endsWith('id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n')), {
      timeout: 20_000,
    })
    .toBe(true)
  const ended = readers.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)))
  await server.stop(10_000)
  await Promise.all(ended)
  expect(hub.readers).toBe(0)
}, 60_000)
