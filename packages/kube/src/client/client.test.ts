import { describe, expect, test } from 'vitest'
import type { KubeApi, WriteObserver } from './api.ts'
import { Client } from './client.ts'
import type { ClientOptions } from './client.ts'
import { ConnectionError } from '../errors/errors.ts'
import { defineKind, metadataOf } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import { jsonPatch, mergePatch } from '../model/patch.ts'
import type { ResponseInfo } from './requester.ts'
import { FedBody, ScriptedTransport } from '../testing/scripted-transport.ts'
import type { ScriptedResponse } from '../testing/scripted-transport.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { settle, VirtualClock } from '../testing/virtual-clock.ts'

interface Note extends KubeObject {
  readonly spec?: { readonly text?: string }
}
const Note = defineKind<Note>({ apiVersion: 'example.dev/v1', kind: 'Note' })
const Namespace = defineKind({ apiVersion: 'v1', kind: 'Namespace', namespaced: false })
const ref = { name: 'n', namespace: 'a' }
const stored = {
  apiVersion: 'example.dev/v1',
  kind: 'Note',
  metadata: { name: 'n', namespace: 'a', uid: 'u1', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' },
}
const deleting = (metadata: object): object => ({
  ...stored,
  metadata: { ...stored.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', ...metadata },
})
const failure = (status: number, reason: string): ScriptedResponse => ({
  status,
  body: { kind: 'Status', code: status, reason, message: reason },
})
const lost = new ConnectionError('TENURE_TEST_LOST', 'no response')

interface Setup {
  readonly client: Client
  readonly transport: ScriptedTransport
  readonly clock: VirtualClock
  /** The calls of the write observer. */
  readonly observed: unknown[]
  /** The n-th request with its parsed body. */
  sent(number?: number): { method: string; path: string; headers: unknown; body: unknown }
}

function setup(transport: ScriptedTransport, options: Partial<ClientOptions> = {}): Setup {
  const clock = new VirtualClock()
  const client = new Client({ transport, clock, random: seededRandom(), ...options })
  const observed: unknown[] = []
  const observer: WriteObserver = {
    written: (kind, object) =>
      observed.push(['written', kind.kind, object.metadata.name, object.metadata.resourceVersion]),
    deleted: (kind, ref, uid) => observed.push(['deleted', kind.kind, ref, uid]),
  }
  client.observeWrites(observer)
  const sent: Setup['sent'] = (number = 1) => {
    const request = transport.requests[number - 1]
    if (!request) throw new Error(`there was no request ${number}`)
    const { method, path, headers, body } = request
    return { method, path, headers, body: body === undefined ? undefined : JSON.parse(body) }
  }
  return { client, transport, clock, observed, sent }
}

const respondingWith = (...answers: (ScriptedResponse | Error)[]): Setup => setup(ScriptedTransport.inOrder(...answers))

const page = (name: string, next?: string): ScriptedResponse => ({
  body: { items: [{ metadata: { name } }], metadata: { resourceVersion: '9', continue: next } },
})

/** Advances the clock until the call has settled. */
async function outcome<R>({ clock }: Setup, call: Promise<R>): Promise<R | Error> {
  const result = call.catch((error: Error) => error)
  let over = false
  void result.finally(() => (over = true))
  await clock.advanceUntil(() => over)
  return result
}

const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' }
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

describe('reads', () => {
  test('get returns the object with unknown fields', async () => {
    const object = { ...stored, spec: { text: 'x', unknown: [1, { deep: null }] }, more: true }
    const { client, sent } = respondingWith({ body: object })
    expect(await client.get(Note, ref, { resourceVersion: '0' })).toEqual(object)
    expect(sent()).toEqual({
      method: 'GET',
      path: '/apis/example.dev/v1/namespaces/a/notes/n?resourceVersion=0',
      headers: { accept: 'application/json' },
      body: undefined,
    })
  })

  test('a metadata read asks for metadata and returns the kind of the object', async () => {
    const { metadata } = stored
    const { client, sent } = respondingWith({
      body: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata },
    })
    expect(await client.get(metadataOf(Note), ref)).toEqual(stored)
    expect(sent().headers).toEqual({ accept: METADATA })
  })

  test('a Scale keeps its own kind', async () => {
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: stored.metadata, spec: { replicas: 2 } }
    const { client, sent } = respondingWith({ body: scale })
    expect(await client.get(Note, ref, { subresource: 'scale' })).toEqual(scale)
    expect(sent().path).toBe('/apis/example.dev/v1/namespaces/a/notes/n/scale')
  })

  test("a live read returns the server's time", async () => {
    const { client } = respondingWith(
      { body: stored, headers: { date: 'Thu, 01 Jan 2026 00:00:07 GMT' } },
      { body: stored },
    )
    expect((await client.getLive(Note, ref)).serverTime).toBe(Date.UTC(2026, 0, 1, 0, 0, 7))
    expect((await client.getLive(Note, ref)).serverTime).toBeUndefined()
  })

  test('a namespaced kind without a namespace fails before the request', async () => {
    const { client, transport } = respondingWith({ body: stored })
    await expect(client.get(Note, { name: 'n' })).rejects.toMatchObject({ code: 'TENURE_NAMESPACE_MISSING' })
    await expect(client.create(Note, { metadata: { name: 'n' } })).rejects.toMatchObject({
      code: 'TENURE_NAMESPACE_MISSING',
    })
    await expect(client.delete(Note, { name: 'n' })).rejects.toMatchObject({ code: 'TENURE_NAMESPACE_MISSING' })
    expect(transport.requests).toHaveLength(0)
    const withDefault = setup(ScriptedTransport.inOrder({ body: stored }), { defaultNamespace: 'd' })
    await withDefault.client.get(Note, { name: 'n' })
    expect(withDefault.sent().path).toContain('/namespaces/d/')
  })

  test('items of a list get apiVersion and kind', async () => {
    const item = { metadata: stored.metadata, extra: 1 }
    const { client, sent } = respondingWith({
      body: { items: [item], metadata: { resourceVersion: '9', remainingItemCount: 3 } },
    })
    const list = await client.list(Note, { labelSelector: 'a=b', fieldSelector: 'metadata.name=n', limit: 2 })
    expect(list).toEqual({
      items: [{ ...stored, extra: 1 }],
      metadata: { resourceVersion: '9', remainingItemCount: 3 },
    })
    expect(sent().path).toBe('/apis/example.dev/v1/notes?labelSelector=a%3Db&fieldSelector=metadata.name%3Dn&limit=2')
  })

  test('a metadata list contains only metadata, also from a server that sends full objects', async () => {
    const { client, sent } = respondingWith({
      body: { items: [{ ...stored, spec: {} }, null].slice(0, 1), metadata: {} },
    })
    expect((await client.list(metadataOf(Note))).items).toEqual([stored])
    expect(sent().headers).toEqual({
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    })
  })

  test('null items are an empty list', async () => {
    const { client } = respondingWith({ body: { items: null, metadata: { resourceVersion: '1' } } })
    expect((await client.list(Note)).items).toEqual([])
  })

  test.each([{ metadata: { name: 'a', resourceVersion: '1' } }, { metadata: {}, items: {} }, { items: [] }])(
    '%j is not accepted as a list',
    async (body) => {
      const { client } = respondingWith({ body })
      await expect(client.list(Note)).rejects.toMatchObject({ code: 'TENURE_ANSWER_UNREADABLE', fate: 'retry' })
    },
  )

  test('pages follow continue tokens and send the resourceVersion only once', async () => {
    const { client, transport } = respondingWith(page('a', 't1'), page('b', 't2'), page('c'))
    const names: unknown[] = []
    const options = { namespace: 'a', resourceVersion: '9', resourceVersionMatch: 'Exact' } as const
    for await (const { items } of client.pages(Note, options)) names.push(...items.map(({ metadata }) => metadata.name))
    expect(names).toEqual(['a', 'b', 'c'])
    const collection = '/apis/example.dev/v1/namespaces/a/notes'
    expect(transport.requests.map(({ path }) => path)).toEqual([
      `${collection}?resourceVersion=9&resourceVersionMatch=Exact&limit=500`,
      `${collection}?limit=500&continue=t1`,
      `${collection}?limit=500&continue=t2`,
    ])
  })

  test('an expired continue token throws instead of mixing two states', async () => {
    const { client } = respondingWith({ body: { items: [], metadata: { continue: 't' } } }, failure(410, 'Expired'))
    const pages = client.pages(Note)[Symbol.asyncIterator]()
    await pages.next()
    await expect(pages.next()).rejects.toMatchObject({ status: 410 })
  })

  test('a streamed list uses its own connection and is not retried', async () => {
    const items = [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }]
    const { client, transport } = respondingWith(
      { body: { metadata: { resourceVersion: '9' }, items } },
      failure(503, 'Busy'),
    )
    const list = client.streamList(Note, { namespace: 'a', labelSelector: 'app=web' })
    expect([transport.requests.length, list.metadata]).toEqual([0, undefined])
    const names: unknown[] = []
    for await (const batch of list) names.push(...batch.map(({ kind, metadata }) => [kind, metadata.name]))
    expect(names).toEqual([
      ['Note', 'a'],
      ['Note', 'b'],
    ])
    expect(list.metadata).toEqual({ resourceVersion: '9' })
    expect(transport.requests[0]).toMatchObject({
      path: '/apis/example.dev/v1/namespaces/a/notes?labelSelector=app%3Dweb',
      stream: true,
    })
    const refused = client.streamList(Note)[Symbol.asyncIterator]()
    await expect(refused.next()).rejects.toMatchObject({ status: 503 })
    expect(transport.requests).toHaveLength(2)
  })

  test('a stalled streamed list fails', async () => {
    const body = new FedBody()
    const { client, clock } = setup(new ScriptedTransport(() => body.response()))
    const first = client.streamList(Note, { idleTimeout: 5000 })[Symbol.asyncIterator]().next()
    const failed = first.catch((thrown: unknown) => thrown)
    body.push('{"metadata":')
    await clock.advance(5001)
    expect(await failed).toMatchObject({ code: 'TENURE_LIST_QUIET', fate: 'retry' })
    expect(clock.pending).toBe(0)
  })

  test('a response that is not an object is an error', async () => {
    const { client } = respondingWith({ body: '"hello"' })
    await expect(client.get(Note, ref)).rejects.toMatchObject({ code: 'TENURE_ANSWER_UNREADABLE' })
  })
})

describe('writes', () => {
  test('create adds kind and field manager', async () => {
    const { client, observed, sent } = respondingWith({ status: 201, body: stored })
    const object = { metadata: { name: 'n', namespace: 'a' }, spec: { text: 'x', unknown: 1 } }
    expect(await client.create(Note, object, { fieldValidation: 'Strict' })).toEqual(stored)
    expect(sent()).toEqual({
      method: 'POST',
      path: '/apis/example.dev/v1/namespaces/a/notes?fieldManager=tenure&fieldValidation=Strict',
      headers: JSON_HEADERS,
      body: { ...object, apiVersion: 'example.dev/v1', kind: 'Note' },
    })
    expect(observed).toEqual([['written', 'Note', 'n', '5']])
  })

  test('create supports generateName', async () => {
    const { client, sent } = respondingWith({ status: 201, body: stored })
    await client.create(Note, { metadata: { generateName: 'n-', namespace: 'a' } })
    expect(sent().path).toMatch(/\/notes\?/)
  })

  test('update writes objects and their status', async () => {
    const { client, observed, sent } = respondingWith({ body: stored })
    await client.update(Note, stored, { subresource: 'status', fieldManager: 'me' })
    expect(sent()).toMatchObject({
      method: 'PUT',
      path: '/apis/example.dev/v1/namespaces/a/notes/n/status?fieldManager=me',
      body: stored,
    })
    expect(observed).toEqual([['written', 'Note', 'n', '5']])
  })

  test('patch sends the media type of the patch', async () => {
    const { client, sent } = respondingWith({ body: stored })
    await client.patch(Note, ref, jsonPatch([{ op: 'remove', path: '/x' }]))
    await client.patch(Note, ref, mergePatch({ spec: null }))
    expect(sent(1)).toMatchObject({
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: [{ op: 'remove', path: '/x' }],
    })
    expect(sent(2)).toMatchObject({ headers: { 'content-type': 'application/merge-patch+json' }, body: { spec: null } })
  })

  test('apply drops managedFields and keeps preconditions', async () => {
    const { client, sent } = respondingWith({ body: stored })
    const metadata = { ...stored.metadata, managedFields: [{ manager: 'x' }] }
    await client.apply(Note, { metadata }, { force: true, dryRun: true })
    expect(sent()).toEqual({
      method: 'PATCH',
      path: '/apis/example.dev/v1/namespaces/a/notes/n?fieldManager=tenure&dryRun=All&force=true',
      headers: { accept: 'application/json', 'content-type': 'application/apply-patch+yaml' },
      body: stored,
    })
    await expect(client.apply(Note, { metadata: { namespace: 'a' } })).rejects.toMatchObject({
      code: 'TENURE_NAME_MISSING',
    })
  })

  test('an object of another kind is not written', async () => {
    const { client, transport } = respondingWith({ body: stored })
    const other = { apiVersion: 'example.dev/v2', kind: 'Note', metadata: ref }
    for (const write of ['create', 'update', 'apply'] as const) {
      await expect(client[write](Note, other)).rejects.toMatchObject({ code: 'TENURE_KIND_MISMATCH' })
    }
    expect(transport.requests).toHaveLength(0)
  })

  test('metadata cannot be written as a full object', async () => {
    const { client, sent } = respondingWith({ body: stored })
    await expect(client.update(metadataOf(Note), stored)).rejects.toMatchObject({ code: 'TENURE_METADATA_ONLY' })
    await expect(client.create(metadataOf(Note), stored)).rejects.toMatchObject({ code: 'TENURE_METADATA_ONLY' })
    await client.patch(metadataOf(Note), ref, mergePatch({ metadata: { labels: {} } }))
    expect(sent().headers).toMatchObject({ accept: METADATA })
  })

  test('a Scale keeps its own kind and is not reported to observers', async () => {
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: stored.metadata, spec: { replicas: 2 } }
    const { client, observed, sent } = respondingWith({ body: scale })
    await client.update(Note, scale as Note, { subresource: 'scale' })
    expect(sent().body).toEqual(scale)
    expect(observed).toEqual([])
  })

  test('a dry run is not reported to observers', async () => {
    const { client, observed } = respondingWith({ body: stored })
    await client.create(Note, { metadata: ref }, { dryRun: true })
    await client.delete(Note, ref, { dryRun: true })
    expect(observed).toEqual([])
  })

  test('observers are called before the write returns, until they are removed', async () => {
    const { client } = respondingWith({ body: stored })
    const order: string[] = []
    const stop = client.observeWrites({ written: () => order.push('observer'), deleted: () => undefined })
    await client.update(Note, stored).then(() => order.push('caller'))
    stop()
    await client.update(Note, stored)
    expect(order).toEqual(['observer', 'caller'])
  })

  test('a failed write is not reported to observers', async () => {
    const { client, observed } = respondingWith(failure(409, 'Conflict'))
    await expect(client.update(Note, stored)).rejects.toMatchObject({ reason: 'Conflict' })
    expect(observed).toEqual([])
  })

  test('removing the last finalizer is reported as a deletion', async () => {
    const { client, observed } = respondingWith({ body: deleting({ deletionGracePeriodSeconds: 0 }) })
    await client.patch(Note, ref, mergePatch({ metadata: { finalizers: null } }))
    expect(observed).toEqual([['deleted', 'Note', ref, 'u1']])
  })

  test('a write to an object in deletion is reported as a write', async () => {
    const { client, observed } = respondingWith({ body: deleting({ finalizers: ['x'] }) })
    await client.patch(Note, ref, mergePatch({}))
    expect(observed).toEqual([['written', 'Note', 'n', '5']])
  })
})

describe('delete', () => {
  test('delete sends its options', async () => {
    const { client, sent } = respondingWith({ body: { kind: 'Status', details: { uid: 'u1' } } })
    await client.delete(Note, ref, {
      preconditions: { uid: 'u1', resourceVersion: '5' },
      propagation: 'Foreground',
      gracePeriodSeconds: 0,
    })
    expect(sent()).toEqual({
      method: 'DELETE',
      path: '/apis/example.dev/v1/namespaces/a/notes/n',
      headers: JSON_HEADERS,
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: 'u1', resourceVersion: '5' },
        propagationPolicy: 'Foreground',
        gracePeriodSeconds: 0,
      },
    })
  })

  test.each([
    ['a Status', { kind: 'Status', details: { uid: 'u1' } }],
    ['an object that is not being deleted', stored],
    ['an object with nothing to wait for', deleting({ deletionGracePeriodSeconds: 0, finalizers: [] })],
  ])('the object is gone if the response is %s', async (_, body) => {
    const { client, observed } = respondingWith({ body })
    expect(await client.delete(Note, ref)).toEqual({ gone: true, uid: 'u1' })
    expect(observed).toEqual([['deleted', 'Note', ref, 'u1']])
  })

  test.each([
    ['finalizers', deleting({ finalizers: ['x'], deletionGracePeriodSeconds: 0 })],
    ['a grace period', deleting({ deletionGracePeriodSeconds: 30 })],
  ])('the object remains while there are %s', async (_, body) => {
    const { client, observed } = respondingWith({ body })
    expect(await client.delete(Note, ref)).toEqual({ gone: false, object: body })
    expect(observed).toEqual([['written', 'Note', 'n', '5']])
  })

  test('the finalizers in the spec of a namespace count', async () => {
    const body = { ...deleting({}), kind: 'Namespace', apiVersion: 'v1', spec: { finalizers: ['kubernetes'] } }
    const { client } = respondingWith({ body })
    expect(await client.delete(Namespace, { name: 'n' })).toMatchObject({ gone: false })
    expect(await client.delete(metadataOf(Namespace), { name: 'n' })).toMatchObject({ gone: false })
  })

  test('deleteCollection deletes in one namespace', async () => {
    const { client, sent } = respondingWith({ body: { kind: 'Status' } })
    await client.deleteCollection(Note, { namespace: 'a', labelSelector: 'x=y', propagation: 'Background' })
    expect(sent()).toMatchObject({
      method: 'DELETE',
      path: '/apis/example.dev/v1/namespaces/a/notes?labelSelector=x%3Dy',
      body: { propagationPolicy: 'Background' },
    })
    await expect(client.deleteCollection(Note, {})).rejects.toMatchObject({ code: 'TENURE_NAMESPACE_MISSING' })
  })
})

describe('a lost response', () => {
  const calls: Record<string, (client: KubeApi) => Promise<unknown>> = {
    get: (client) => client.get(Note, ref),
    list: (client) => client.list(Note),
    apply: (client) => client.apply(Note, { metadata: ref }),
    'apply with resourceVersion': (client) => client.apply(Note, stored),
    create: (client) => client.create(Note, { metadata: ref }),
    update: (client) => client.update(Note, stored),
    patch: (client) => client.patch(Note, ref, mergePatch({})),
    delete: (client) => client.delete(Note, ref),
    'delete with uid': (client) => client.delete(Note, ref, { preconditions: { uid: 'u1' } }),
    deleteCollection: (client) => client.deleteCollection(Note, { namespace: 'a' }),
  }
  const body = { ...stored, items: [] }

  test.each(['get', 'list', 'apply', 'delete with uid'])('%s is retried', async (name) => {
    const at = respondingWith(lost, failure(502, 'BadGateway'), { body })
    expect(await outcome(at, calls[name]?.(at.client) ?? Promise.reject(lost))).not.toBeInstanceOf(Error)
    expect(at.transport.requests).toHaveLength(3)
  })

  test.each(['apply with resourceVersion', 'create', 'update', 'patch', 'delete', 'deleteCollection'])(
    '%s is not retried',
    async (name) => {
      const at = respondingWith(lost, { body })
      expect(await outcome(at, calls[name]?.(at.client) ?? Promise.resolve())).toBe(lost)
      expect(at.transport.requests).toHaveLength(1)
      expect(at.observed).toEqual([])
    },
  )

  test.each(Object.keys(calls))('%s is retried after a 429', async (name) => {
    const at = respondingWith({ ...failure(429, 'TooManyRequests'), headers: { 'retry-after': '1' } }, { body })
    expect(await outcome(at, calls[name]?.(at.client) ?? Promise.reject(lost))).not.toBeInstanceOf(Error)
    expect(at.clock.monotonic()).toBeGreaterThanOrEqual(1000)
  })

  test('a read whose response was cut is retried', async () => {
    const at = respondingWith({ body: '{"kind":"No' }, { body: stored })
    expect(await outcome(at, at.client.get(Note, ref))).toEqual(stored)
  })

  test('a 404 after a lost response counts as success, and after a 429 as an error', async () => {
    const carriedOut = respondingWith(lost, failure(404, 'NotFound'))
    const preconditions = { uid: 'u1' }
    expect(await outcome(carriedOut, carriedOut.client.delete(Note, ref, { preconditions }))).toEqual({
      gone: true,
      uid: 'u1',
    })
    expect(carriedOut.observed).toEqual([['deleted', 'Note', ref, 'u1']])
    const notProcessed = respondingWith(failure(429, 'TooManyRequests'), failure(404, 'NotFound'))
    expect(await outcome(notProcessed, notProcessed.client.delete(Note, ref, { preconditions }))).toMatchObject({
      status: 404,
    })
    const missing = respondingWith(failure(404, 'NotFound'))
    expect(await outcome(missing, missing.client.delete(Note, ref, { preconditions }))).toMatchObject({ status: 404 })
  })

  test('an aborted call sends no request', async () => {
    const { client, transport } = respondingWith({ body: stored })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(client.get(Note, ref, { signal })).rejects.toThrow('enough')
    expect(transport.requests).toHaveLength(0)
  })
})

describe('watch', () => {
  test('a watch sends its options and uses its own connection', async () => {
    const body = new FedBody()
    body.end()
    const { client, transport } = setup(new ScriptedTransport(() => body.response()))
    const watch = client.watch(Note, { namespace: 'a', labelSelector: 'x', resourceVersion: '5', timeoutSeconds: 300 })
    for await (const _ of watch) expect.unreachable()
    expect(transport.requests[0]).toMatchObject({
      method: 'GET',
      stream: true,
      path: '/apis/example.dev/v1/namespaces/a/notes?watch=true&labelSelector=x&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=300',
    })
  })

  test('onOpen is called once', async () => {
    const body = new FedBody()
    body.end()
    const { client } = setup(new ScriptedTransport(() => body.response()))
    let opened = 0
    for await (const _ of client.watch(Note, { onOpen: () => opened++ })) expect.unreachable()
    expect(opened).toBe(1)
  })

  test('initial events are requested with resourceVersionMatch', async () => {
    const { client, transport } = setup(new ScriptedTransport(() => ({ body: '' })))
    for await (const _ of client.watch(metadataOf(Note), { sendInitialEvents: true, bookmarks: true }))
      expect.unreachable()
    expect(transport.requests[0]?.path).toBe(
      '/apis/example.dev/v1/notes?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    )
    expect(transport.requests[0]?.headers).toEqual({ accept: METADATA })
  })

  test.each([
    [410, 'Expired'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
  ])('a %i throws an ApiError without a retry', async (status, reason) => {
    const { client, transport } = respondingWith({ ...failure(status, reason), headers: { 'retry-after': '1' } })
    const next = client.watch(Note)[Symbol.asyncIterator]().next()
    await expect(next).rejects.toMatchObject({ status, reason, retryAfter: 1000 })
    expect(transport.requests).toHaveLength(1)
  })

  test('an abort ends a pending request', async () => {
    const abort = new AbortController()
    const { client, transport } = setup(new ScriptedTransport(() => new Promise<never>(() => undefined)))
    const next = client.watch(Note, { signal: abort.signal })[Symbol.asyncIterator]().next()
    const rejected = next.catch((error: unknown) => error)
    await settle()
    abort.abort(new Error('enough'))
    expect(await rejected).toMatchObject({ message: 'enough' })
    expect(transport.requests[0]?.signal?.aborted).toBe(true)
  })
})

test('onResponse is called for every attempt, with duration and warnings', async () => {
  const infos: ResponseInfo[] = []
  const clock = new VirtualClock()
  const transport = ScriptedTransport.inOrder(lost, failure(500, 'InternalError'), {
    body: stored,
    headers: { warning: '299' },
  })
  const client = new Client({ transport, clock, random: seededRandom(), onResponse: (info) => infos.push(info) })
  const got = client.get(Note, ref)
  await clock.advanceUntil(() => infos.length === 3)
  await got
  expect(infos.map(({ verb, attempt, status, error }) => [verb, attempt, status, error instanceof Error])).toEqual([
    ['get', 1, undefined, true],
    ['get', 2, 500, true],
    ['get', 3, 200, false],
  ])
  expect(infos[2]?.headers).toEqual({ warning: '299' })
})

test('requests respect the rate limit', async () => {
  const clock = new VirtualClock()
  const transport = ScriptedTransport.inOrder({ body: stored })
  const client = new Client({ transport, clock, rateLimit: { qps: 10, burst: 1 } })
  const all = Promise.all([client.get(Note, ref), client.get(Note, ref), client.get(Note, ref)])
  await clock.advance(199)
  expect(transport.requests).toHaveLength(2)
  await clock.advance(1)
  await all
  expect(transport.requests).toHaveLength(3)
})
