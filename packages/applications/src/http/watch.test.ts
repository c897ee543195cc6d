import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { Stored } from '@tenure/kube'
import { mergePatch } from '@tenure/kube'
import { afterEach, describe, expect, test } from 'vitest'
import { Application } from '../api/index.ts'
import { applicationOf, closeRoutes, serveRoutes, RESOURCES } from '../testing/routes-fixture.ts'

/** Upper bound for slow machines; tests wait for a condition. */
const WAIT = { timeout: 15_000 }

const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await closeRoutes()
})

interface Frame {
  readonly id: string
  readonly type: string
  readonly object: Stored<Application>
}

interface Reader {
  readonly socket: Socket
  text(): string
  frames(): readonly Frame[]
}

/** Resolves with the first bytes of the stream: from then on no event is missed. */
function read(port: number, query = '', lastEventId?: string): Promise<Reader> {
  return new Promise((resolve, reject) => {
    let text = ''
    const head = lastEventId === undefined ? '' : `last-event-id: ${lastEventId}\r\n`
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET /watch${query} HTTP/1.1\r\nhost: localhost\r\n${head}\r\n`)
    })
    sockets.push(socket)
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (/\r\n\r\n./s.test(text)) resolve({ socket, text: () => text, frames: () => framesIn(text) })
    })
  })
}

function framesIn(text: string): readonly Frame[] {
  return [...text.matchAll(/^id: ([\d.]+)\ndata: (.*)\n\n/gm)].map(([, id = '', data = '{}']) => ({
    id,
    ...(JSON.parse(data) as Omit<Frame, 'id'>),
  }))
}

const names = (reader: Reader): readonly string[] =>
  reader.frames().map(({ type, object }) => `${type} ${object.metadata.name}`)

describe('GET /watch', () => {
  test('a stream begins now and shows writes of the HTTP API and of the API server', async () => {
    const { port, call, server } = await serveRoutes()
    server.seed(Application, applicationOf('old'))
    await expect.poll(() => call('GET', `${RESOURCES}/old`), WAIT).toMatchObject({ status: 200 })
    const reader = await read(port)
    expect(reader.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    await call('POST', RESOURCES, applicationOf('web'))
    // Without the finalizer, which only the controller removes.
    const metadata = { name: 'web', namespace: 'default', finalizers: [] }
    server.seed(Application, applicationOf('web', { metadata, status: { phase: 'Running' } }))
    await expect.poll(() => names(reader), WAIT).toEqual(['ADDED web', 'MODIFIED web'])
    await call('DELETE', `${RESOURCES}/web`)
    await expect.poll(() => names(reader), WAIT).toEqual(['ADDED web', 'MODIFIED web', 'DELETED web'])
    const [added, modified] = reader.frames()
    expect(added).toMatchObject({ id: added?.object.metadata.resourceVersion, object: { kind: 'Application' } })
    expect(added?.object.metadata).not.toHaveProperty('managedFields')
    expect(modified?.object.status?.phase).toBe('Running')
  })

  test('a stream is filtered by namespace, kind and label', async () => {
    const { port, server } = await serveRoutes()
    const readers = await Promise.all([
      read(port, '?namespace=a'),
      read(port, '?labelSelector=tier%3Dweb'),
      read(port, '?kind=Application'),
      read(port, '?kind=Deployment'),
    ])
    const seed = (namespace: string, tier: string): unknown =>
      server.seed(Application, applicationOf('x', { metadata: { name: 'x', namespace, labels: { tier } } }))
    seed('a', 'db')
    seed('b', 'web')
    seed('b', 'db')
    seed('b', 'none')
    const [ofA, web, all, none] = readers
    if (!ofA || !web || !all || !none) throw new Error('no readers')
    await expect.poll(() => names(all), WAIT).toHaveLength(4)
    expect(names(ofA)).toEqual(['ADDED x'])
    // The matching object, and the change by which it stops to match.
    expect(web.frames().map(({ object }) => object.metadata.labels?.['tier'])).toEqual(['web', 'db'])
    expect(names(none)).toEqual([])
  })

  test('a stream resumes after Last-Event-ID, also at another replica, and after a list', async () => {
    const first = await serveRoutes()
    const { server, port, call } = first
    const reader = await read(port)
    await call('POST', RESOURCES, applicationOf('a'))
    server.seed(Application, applicationOf('b'))
    await call('POST', RESOURCES, applicationOf('c'))
    await expect.poll(() => names(reader), WAIT).toHaveLength(3)
    const id = reader.frames()[0]?.id ?? ''
    expect(names(await read(port, '', id))).toEqual(['ADDED b', 'ADDED c'])
    const { metadata } = (await call('GET', RESOURCES)).json as { metadata: { resourceVersion: string } }
    const listed = await read(port, '', metadata.resourceVersion)
    await call('DELETE', `${RESOURCES}/b`)
    await expect.poll(() => names(listed), WAIT).toEqual(['DELETED b'])
    // Another replica, started after the change.
    const second = await serveRoutes({ server })
    await expect.poll(() => second.call('GET', `${RESOURCES}/c`), WAIT).toMatchObject({ status: 200 })
    const resumed = await read(second.port, `?lastEventId=${id}`)
    expect(names(resumed)).toEqual(['ADDED b', 'ADDED c', 'DELETED b'])
    await second.call('POST', RESOURCES, applicationOf('d'))
    await expect.poll(() => names(resumed), WAIT).toEqual(['ADDED b', 'ADDED c', 'DELETED b', 'ADDED d'])
  })

  test('ids are in the order of the changes, so that a client can resume at another replica', async () => {
    const first = await serveRoutes()
    const { server, port, call } = first
    const reader = await read(port)
    server.holdWatches()
    server.seed(Application, applicationOf('theirs'))
    // A process knows its own writes before the watch delivers older ones.
    await call('POST', RESOURCES, applicationOf('ours'))
    expect(await call('GET', `${RESOURCES}/ours`)).toMatchObject({ status: 200 })
    const { metadata } = (await call('GET', RESOURCES)).json as { metadata: { resourceVersion: string } }
    server.releaseWatches()
    await expect.poll(() => names(reader), WAIT).toEqual(['ADDED theirs', 'ADDED ours'])
    const second = await serveRoutes({ server })
    const resumed = await read(second.port, '', metadata.resourceVersion)
    expect(names(resumed)).toEqual(['ADDED theirs', 'ADDED ours'])
  })

  test.each(['DELETE', 'the removal of the last finalizer'])(
    'no two frames have the same id if the response to %s comes before the watch',
    async (how) => {
      const { server, port, call, api } = await serveRoutes()
      const reader = await read(port)
      if (how === 'DELETE') server.seed(Application, applicationOf('web'))
      else {
        await call('POST', RESOURCES, applicationOf('web'))
        await call('DELETE', `${RESOURCES}/web`)
      }
      const before = how === 'DELETE' ? ['ADDED web'] : ['ADDED web', 'MODIFIED web']
      await expect.poll(() => names(reader), WAIT).toEqual(before)
      server.holdWatches()
      if (how === 'DELETE') await call('DELETE', `${RESOURCES}/web`)
      else
        await api.patch(
          Application,
          { namespace: 'default', name: 'web' },
          mergePatch({ metadata: { finalizers: null } }),
        )
      await expect.poll(() => names(reader), WAIT).toEqual([...before, 'DELETED web'])
      server.releaseWatches()
      const ids = reader.frames().map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      // A replica that started later reads the history of the API server.
      const second = await serveRoutes({ server })
      for (const replica of [port, second.port]) {
        for (const [index, id] of ids.slice(0, -1).entries()) {
          const resumed = await read(replica, '', id)
          await expect.poll(() => names(resumed), WAIT).toEqual([...before, 'DELETED web'].slice(index + 1))
        }
        // The id of the deletion is accepted; the deletion may be sent again, and is never lost.
        expect((await read(replica, '', ids.at(-1))).text()).toContain('200 OK')
      }
    },
  )

  test('an expired id is answered with 410, and an invalid id with 400', async () => {
    const { server, call } = await serveRoutes()
    server.seed(Application, applicationOf('a'))
    server.seed(Application, applicationOf('b'))
    server.compact()
    expect(await call('GET', '/watch', undefined, { 'last-event-id': '1' })).toMatchObject({
      status: 410,
      json: { error: expect.stringContaining('no longer known') },
    })
    // From an earlier store with higher versions.
    expect(await call('GET', '/watch', undefined, { 'last-event-id': '999999' })).toMatchObject({ status: 410 })
    expect(await call('GET', '/watch', undefined, { 'last-event-id': 'x' })).toMatchObject({ status: 400 })
    expect(await call('GET', '/watch?labelSelector=%3D')).toMatchObject({ status: 400 })
  })
})
