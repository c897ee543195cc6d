import { request } from 'node:http'
import { systemClock } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { AccessControl } from '../auth/token-access-control.ts'
import { HttpError } from '../errors/http-error.ts'
import { call, closeAll, serving } from '../server/server.testing.ts'
import type { View, ViewListener, ViewRow } from './view.ts'
import { viewRoutes } from './view-routes.ts'

/** Generous for slow machines: polling ends with its condition. */
const POLL = { timeout: 15_000 }

const closing: (() => void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) close()
  await closeAll()
})

interface Row extends ViewRow {
  readonly size: number
}

/** A view with rows that the test sets. */
class TestView implements View<Row> {
  readonly name: string
  readonly title = 'Things'
  readonly schema = z.object({ id: z.string(), name: z.string(), size: z.number(), namespace: z.string().optional() })
  readonly #rows = new Map<string, Row>()
  readonly listeners = new Set<ViewListener>()

  constructor(name: string) {
    this.name = name
  }

  /** The id is `<resource>/<namespace>/<name>`. */
  set(id: string, size: number): void {
    const [, namespace, name = ''] = id.split('/')
    this.#rows.set(id, { id, name, namespace, size })
    for (const listener of this.listeners) listener(id)
  }

  delete(id: string): void {
    this.#rows.delete(id)
    for (const listener of this.listeners) listener(id)
  }

  resourceOf({ id }: Row) {
    return { group: 'example.dev', resource: id.split('/')[0] ?? '' }
  }

  rows() {
    return this.#rows.values()
  }

  row(id: string) {
    return this.#rows.get(id)
  }

  subscribe(listener: ViewListener) {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }
}

/** `may` decides about `list <resource> <namespace>`. */
async function served(views: readonly View[], accessControl?: AccessControl) {
  const { routes, stop } = viewRoutes({
    views,
    operators: ['things'],
    version: '1.2.3',
    authentication: accessControl ? 'token' : 'none',
    clock: systemClock,
    random: seededRandom(1),
  })
  closing.push(stop)
  const { listening } = await serving(routes, accessControl && { accessControl })
  return listening.url
}

function granting(may: (text: string) => boolean): AccessControl {
  return {
    authenticate: () => Promise.resolve({ name: 'ada', groups: [] }),
    authorize: (_, access) => {
      if (access === 'public' || 'path' in access || access.resource === 'selfsubjectaccessreviews')
        return Promise.resolve()
      const text = [access.verb, access.resource, access.namespace].join(' ').trim()
      return may(text)
        ? Promise.resolve()
        : Promise.reject(new HttpError('TENURE_HTTP_FORBIDDEN', 403, `may not ${text}`))
    },
  }
}

interface Frames {
  readonly status: number
  readonly data: unknown[]
  readonly ids: string[]
  isEnded: boolean
}

/** Reads a stream until the test ends. */
function reading(url: string, lastEventId?: string): Promise<Frames> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } },
      (answer) => {
        const frames: Frames = { status: answer.statusCode ?? 0, data: [], ids: [], isEnded: false }
        let text = ''
        answer.on('data', (chunk) => {
          text += String(chunk)
          const parts = text.split('\n\n')
          text = parts.pop() ?? ''
          for (const part of parts) {
            const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(part) ?? []
            if (id === undefined || data === undefined) continue
            frames.ids.push(id)
            frames.data.push(JSON.parse(data))
          }
        })
        answer.on('end', () => (frames.isEnded = true))
        answer.on('error', () => undefined)
        resolve(frames)
      },
    )
    sent.on('error', reject)
    sent.end()
    closing.push(() => sent.destroy())
  })
}

const listOf = async (url: string, query = '') => (await call(`${url}/api/v1/views/things${query}`)).json

test('a list and the stream after its cursor show every change, and the last state of each row', async () => {
  const view = new TestView('things')
  view.set('cups/a/one', 1)
  const url = await served([view])
  const listed = (await listOf(url)) as { readonly cursor: string }
  expect(listed).toMatchObject({ items: [{ id: 'cups/a/one', size: 1 }], total: 1, remaining: 0 })
  view.set('cups/a/two', 2)
  view.delete('cups/a/one')
  const stream = await reading(`${url}/api/v1/stream`, listed.cursor)
  const one = { view: 'things', type: 'delete', id: 'cups/a/one' }
  const two = { view: 'things', type: 'set', row: { id: 'cups/a/two', name: 'two', namespace: 'a', size: 2 } }
  await expect.poll(() => stream.data, POLL).toEqual([two, one])
  view.set('cups/a/two', 3)
  view.set('cups/a/two', 4)
  await expect.poll(() => stream.data.at(-1), POLL).toMatchObject({ row: { size: 4 } })
  expect(stream.data).toHaveLength(3)
  const [, second = ''] = stream.ids
  const resumed = await reading(`${url}/api/v1/stream`, second)
  await expect.poll(() => resumed.data, POLL).toEqual([stream.data[2]])
})

test('a row that comes and goes between two readings is not sent', async () => {
  const view = new TestView('things')
  const url = await served([view])
  const stream = await reading(`${url}/api/v1/stream`)
  view.set('cups/a/one', 1)
  view.delete('cups/a/one')
  view.set('cups/a/two', 2)
  await expect.poll(() => stream.data, POLL).toMatchObject([{ row: { id: 'cups/a/two' } }])
})

test('changes are followed only while somebody reads', async () => {
  const view = new TestView('things')
  const { routes, stop } = viewRoutes({
    views: [view],
    operators: [],
    version: '1',
    authentication: 'none',
    clock: systemClock,
    random: seededRandom(1),
  })
  const { listening } = await serving(routes)
  expect(view.listeners.size).toBe(0)
  await listOf(listening.url)
  expect(view.listeners.size).toBe(1)
  stop()
  expect(view.listeners.size).toBe(0)
})

test('a stream after an unknown event is 410, and of an unknown view 404', async () => {
  const url = await served([new TestView('things')])
  expect(await reading(`${url}/api/v1/stream`, 'earlier-7')).toMatchObject({ status: 410 })
  expect(await call(`${url}/api/v1/stream?views=others`)).toMatchObject({
    status: 404,
    json: { error: 'There is no view "others"; there are things' },
  })
})

test('a stream has the views and the namespace that were asked for', async () => {
  const [things, others] = [new TestView('things'), new TestView('others')]
  const url = await served([things, others])
  const stream = await reading(`${url}/api/v1/stream?views=things&namespace=a`)
  others.set('cups/a/x', 1)
  things.set('cups/b/x', 1)
  things.set('cups/a/x', 1)
  await expect.poll(() => stream.data, POLL).toMatchObject([{ view: 'things', row: { id: 'cups/a/x' } }])
})

test('a caller sees only the resources that it may list', async () => {
  const view = new TestView('things')
  view.set('cups/a/one', 1)
  view.set('knives/a/two', 2)
  const url = await served(
    [view],
    granting((text) => text === 'list cups'),
  )
  expect(await listOf(url)).toMatchObject({ items: [{ id: 'cups/a/one' }], total: 1 })
  const stream = await reading(`${url}/api/v1/stream`)
  view.set('knives/a/three', 3)
  view.delete('knives/a/two')
  view.delete('cups/a/one')
  await expect.poll(() => stream.data, POLL).toEqual([{ view: 'things', type: 'delete', id: 'cups/a/one' }])
})

test('a caller that may list nothing gets a 403 that names the permission, except in its namespace', async () => {
  const view = new TestView('things')
  view.set('cups/a/one', 1)
  view.set('cups/b/two', 2)
  const url = await served(
    [view],
    granting((text) => text === 'list cups b'),
  )
  expect(await call(`${url}/api/v1/views/things`)).toMatchObject({ status: 403, json: { error: 'may not list cups' } })
  expect(await call(`${url}/api/v1/stream`)).toMatchObject({ status: 403 })
  expect(await listOf(url, '?namespace=b')).toMatchObject({ items: [{ id: 'cups/b/two' }], total: 1 })
})

test('a stream ends when a resource appears about which the caller was not asked', async () => {
  const view = new TestView('things')
  const url = await served(
    [view],
    granting(() => true),
  )
  const stream = await reading(`${url}/api/v1/stream`)
  view.set('cups/a/one', 1)
  await expect.poll(() => stream.isEnded, POLL).toBe(true)
  const again = await reading(`${url}/api/v1/stream`)
  view.set('cups/a/one', 2)
  await expect.poll(() => again.data, POLL).toMatchObject([{ row: { size: 2 } }])
})

test('the caller learns what it may do', async () => {
  const url = await served(
    [],
    granting((text) => text === 'delete cups a'),
  )
  const checks = [
    { group: 'example.dev', resource: 'cups', verb: 'delete', namespace: 'a' },
    { group: 'example.dev', resource: 'cups', verb: 'create' },
  ]
  expect(await call(`${url}/api/v1/access`, { method: 'POST', body: { checks } })).toMatchObject({
    status: 200,
    json: { user: 'ada', allowed: [true, false] },
  })
  expect(await call(`${url}/api/v1/access`, { method: 'POST', body: { checks: [{}] } })).toMatchObject({ status: 400 })
})

test('the facts about a process need no account', async () => {
  const url = await served([new TestView('things')])
  expect((await call(`${url}/api/v1/about`)).json).toEqual({
    version: '1.2.3',
    operators: ['things'],
    views: [{ name: 'things', title: 'Things' }],
    authentication: 'none',
  })
})

test.each(['?limit=0', '?limit=x', '?limit=100000', '?order=up', '?continue=x'])(
  'the query %s is 400',
  async (query) => {
    const url = await served([new TestView('things')])
    expect(await call(`${url}/api/v1/views/things${query}`)).toMatchObject({ status: 400 })
  },
)
