import type { TransportRequest } from '@tenure/kube'
import { defineKind } from '@tenure/kube'
import { settle, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { MemoryApi, type MemoryApiOptions } from './memory-api.ts'
import { refuse } from './responses.ts'

type Json = Record<string, unknown>

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap' })
const MAPS = '/api/v1/namespaces/default/configmaps'
const SITES = '/apis/example.dev/v1/namespaces/default/sites'

function setUp(options: Partial<MemoryApiOptions> = {}) {
  const clock = new VirtualClock()
  const api = new MemoryApi({ clock, ...options })
  const call = async (
    method: TransportRequest['method'],
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Json; headers: Readonly<Record<string, unknown>> }> => {
    const response = await api.request({
      method,
      path,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.body.text()) as Json }
  }
  const apply = (path: string, body: unknown, manager = 'me') =>
    call('PATCH', `${path}?fieldManager=${manager}`, body, {
      'content-type': 'application/apply-patch+yaml',
    })
  const watch = async (path: string, signal?: AbortSignal) => {
    const response = await api.request({ method: 'GET', path, stream: true, signal })
    const events: string[] = []
    let ended: unknown = 'open'
    const decoder = new TextDecoder()
    const read = async (): Promise<void> => {
      let text = ''
      for await (const chunk of response.body) {
        text += decoder.decode(chunk, { stream: true })
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          const event = JSON.parse(line) as { type: string; object: { metadata?: Json; code?: number } }
          const { metadata, code } = event.object
          const end = metadata?.['annotations'] ? ' end' : ''
          events.push(`${event.type} ${String(metadata?.['name'] ?? code ?? metadata?.['resourceVersion'])}${end}`)
        }
      }
    }
    void read().then(
      () => (ended = 'end'),
      (error: unknown) => (ended = error),
    )
    return { status: response.status, events, body: response.body, ended: () => ended }
  }
  return { api, clock, call, apply, watch }
}

const map = (name: string, extra: Json = {}, data: Json = { a: '1' }): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...extra },
  data,
})
const site = (spec: Json): Json => ({
  apiVersion: 'example.dev/v1',
  kind: 'Site',
  metadata: { name: 'a', namespace: 'default', labels: { app: 'a' } },
  spec,
})
const annotateIfB = (value: string) => [
  { op: 'test', path: '/data/b', value },
  { op: 'add', path: '/metadata/annotations', value: { 'x/y': '1' } },
  { op: 'replace', path: '/metadata/annotations/x~1y', value: '2' },
]
const meta = (body: Json): Json => body['metadata'] as Json

describe('MemoryApi objects', () => {
  test('create sets the metadata of the server and rejects duplicates', async () => {
    const { call } = setUp()
    const made = await call('POST', MAPS, { ...map(''), metadata: { generateName: 'web-' } })
    expect(made.status).toBe(201)
    expect(made.headers['date']).toBe('Thu, 01 Jan 2026 00:00:00 GMT')
    expect(meta(made.body)).toMatchObject({ namespace: 'default', resourceVersion: '2' })
    expect(meta(made.body)['name']).toMatch(/^web-[a-z0-9]{5}$/)
    expect(meta(made.body)['creationTimestamp']).toBe('2026-01-01T00:00:00Z')
    const again = await call('POST', MAPS, map(String(meta(made.body)['name'])))
    expect(again).toMatchObject({ status: 409, body: { kind: 'Status', reason: 'AlreadyExists', code: 409 } })
    expect(await call('GET', `${MAPS}/nope`)).toMatchObject({ status: 404, body: { reason: 'NotFound' } })
    expect(await call('POST', MAPS, { metadata: {} })).toMatchObject({ status: 422, body: { reason: 'Invalid' } })
  })

  test('update needs the current version and keeps it if nothing changes', async () => {
    const { call } = setUp()
    const { body } = await call('POST', SITES, { ...map('a'), kind: 'Site', spec: { size: 1 } })
    expect(meta(body)['generation']).toBe(1)
    const same = await call('PUT', `${SITES}/a`, body)
    expect(meta(same.body)['resourceVersion']).toBe('2')
    const changed = await call('PUT', `${SITES}/a`, { ...body, spec: { size: 2 }, status: { ignored: true } })
    expect(changed.body).toMatchObject({ metadata: { resourceVersion: '3', generation: 2 }, spec: { size: 2 } })
    expect(changed.body['status']).toBeUndefined()
    expect(await call('PUT', `${SITES}/a`, body)).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
    const status = await call('PUT', `${SITES}/a/status`, { ...changed.body, spec: {}, status: { ready: true } })
    expect(status.body).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2 }, status: { ready: true } })
  })

  test('merge patches and JSON patches are applied', async () => {
    const { call } = setUp()
    await call('POST', MAPS, map('a'))
    const merge = { 'content-type': 'application/merge-patch+json' }
    const operations = { 'content-type': 'application/json-patch+json' }
    const merged = await call('PATCH', `${MAPS}/a`, { data: { a: null, b: '2' } }, merge)
    expect(merged.body['data']).toEqual({ b: '2' })
    const stale = await call('PATCH', `${MAPS}/a`, { metadata: { resourceVersion: '2' }, data: { c: '' } }, merge)
    expect(stale.status).toBe(409)
    expect((await call('PATCH', `${MAPS}/a`, annotateIfB('3'), operations)).status).toBe(422)
    const tested = await call('PATCH', `${MAPS}/a`, annotateIfB('2'), operations)
    expect(meta(tested.body)['annotations']).toEqual({ 'x/y': '2' })
  })

  test('delete is conditional, waits for finalizers, and returns the last state', async () => {
    const { api, call } = setUp()
    const { body } = await call('POST', MAPS, map('a', { finalizers: ['x/y'] }))
    const wrong = await call('DELETE', `${MAPS}/a`, { preconditions: { uid: 'other' } })
    expect(wrong).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
    const marked = await call('DELETE', `${MAPS}/a`, { preconditions: { uid: meta(body)['uid'] } })
    expect(meta(marked.body)).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '3' })
    const last = await call('PUT', `${MAPS}/a`, { ...marked.body, metadata: { ...meta(marked.body), finalizers: [] } })
    expect(meta(last.body)).toMatchObject({ resourceVersion: '3', deletionGracePeriodSeconds: 0 })
    expect(api.objects(ConfigMap)).toEqual([])
    expect(api.revision).toBe('4')
    await call('POST', MAPS, map('b'))
    expect(await call('DELETE', `${MAPS}/b`)).toMatchObject({
      status: 200,
      body: { kind: 'Status', status: 'Success' },
    })
  })

  test('lists are selected by labels and fields, and pages are of one snapshot', async () => {
    const { api, call } = setUp()
    for (const name of ['a', 'b', 'c']) api.seed(ConfigMap, map(name, { labels: { app: name } }))
    const names = (body: Json): unknown[] => (body['items'] as Json[]).map((item) => meta(item)['name'])
    expect(names((await call('GET', `${MAPS}?labelSelector=app%20in%20(a,b),app!=b`)).body)).toEqual(['a'])
    expect(names((await call('GET', `/api/v1/configmaps?fieldSelector=metadata.name=c`)).body)).toEqual(['c'])
    const first = await call('GET', `${MAPS}?limit=2`)
    expect(meta(first.body)).toMatchObject({ resourceVersion: '4', remainingItemCount: 1 })
    api.unseed(ConfigMap, { namespace: 'default', name: 'c' })
    const token = String(meta(first.body)['continue'])
    const rest = await call('GET', `${MAPS}?limit=2&continue=${token}`)
    expect(names(rest.body)).toEqual(['c'])
    api.compact()
    expect(await call('GET', `${MAPS}?limit=2&continue=${token}`)).toMatchObject({
      status: 410,
      body: { reason: 'Expired' },
    })
    const metadata = await call('GET', MAPS, undefined, {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    })
    expect(metadata.body).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata' }, {}],
    })
    expect((metadata.body['items'] as Json[])[0]?.['data']).toBeUndefined()
  })
})

describe('MemoryApi apply', () => {
  test('apply creates, merges, is idempotent, and removes fields that its manager dropped', async () => {
    const { apply, clock } = setUp()
    const made = await apply(`${SITES}/a`, site({ size: 1, args: ['x'] }))
    expect(made.status).toBe(201)
    const [entry] = meta(made.body)['managedFields'] as [Json]
    expect(entry).toMatchObject({ manager: 'me', operation: 'Apply', time: '2026-01-01T00:00:00Z' })
    expect(entry['fieldsV1']).toEqual({
      'f:metadata': { 'f:labels': { 'f:app': {} } },
      'f:spec': { 'f:size': {}, 'f:args': {} },
    })
    await clock.advance(5000)
    expect((await apply(`${SITES}/a`, site({ size: 1, args: ['x'] }))).body).toEqual(made.body)
    const other = await apply(`${SITES}/a`, site({ colour: 'red' }), 'you')
    expect(other.body['spec']).toEqual({ size: 1, args: ['x'], colour: 'red' })
    const dropped = await apply(`${SITES}/a`, site({ size: 1 }))
    expect(dropped.body['spec']).toEqual({ size: 1, colour: 'red' })
    expect(meta(dropped.body)['labels']).toEqual({ app: 'a' })
  })
})

describe('MemoryApi watches', () => {
  const LIST_WATCH = `${MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`

  test('a watch delivers the initial state, its end, and selected changes', async () => {
    const { api, clock, watch } = setUp({ watchChunkBytes: 1 })
    api.seed(ConfigMap, map('a', { labels: { app: 'x' } }))
    const { events, body } = await watch(`${LIST_WATCH}&labelSelector=app=x`)
    api.seed(ConfigMap, map('b'))
    api.seed(ConfigMap, map('b', { labels: { app: 'x' } }))
    api.seed(ConfigMap, map('b', { labels: { app: 'x' } }, { b: '2' }))
    api.seed(ConfigMap, map('b', { labels: {} }))
    await clock.advance(60_000)
    expect(events).toEqual(['ADDED a', 'BOOKMARK 2 end', 'ADDED b', 'MODIFIED b', 'DELETED b', 'BOOKMARK 6'])
    expect(api.openWatches).toBe(1)
    body.cancel()
    expect(api.openWatches).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('a watch resumes, or gets 410 if the history is gone', async () => {
    const { api, watch } = setUp()
    api.seed(ConfigMap, map('a'))
    api.seed(ConfigMap, map('b'))
    const resumed = await watch(`${MAPS}?watch=true&resourceVersion=2`)
    await settle()
    expect(resumed.events).toEqual(['ADDED b'])
    api.compact()
    const expired = await watch(`${MAPS}?watch=true&resourceVersion=2`)
    await settle()
    expect(expired.events).toEqual(['ERROR 410'])
    expect(expired.ended()).toBe('end')
  })

  test('a watch can break, end, stall, be held and be aborted', async () => {
    const { api, clock, watch } = setUp()
    const dropped = await watch(LIST_WATCH)
    api.dropWatches()
    await settle()
    expect(dropped.ended()).toMatchObject({ code: 'TENURE_CONNECTION_LOST' })
    const timed = await watch(`${LIST_WATCH}&timeoutSeconds=5`)
    await clock.advance(5000)
    expect(timed.ended()).toBe('end')
    const controller = new AbortController()
    const hung = await watch(LIST_WATCH, controller.signal)
    api.holdWatches()
    api.seed(ConfigMap, map('a'))
    api.seed(ConfigMap, map('b'))
    api.releaseWatches(1)
    await settle()
    expect(hung.events).toEqual(['BOOKMARK 1 end', 'ADDED a'])
    api.releaseWatches()
    api.stallWatches()
    api.seed(ConfigMap, map('c'))
    await clock.advance(120_000)
    expect(hung.events).toEqual(['BOOKMARK 1 end', 'ADDED a'])
    expect(hung.ended()).toBe('open')
    controller.abort(new Error('enough'))
    await settle()
    expect(hung.ended()).toMatchObject({ message: 'enough' })
    expect(api.openWatches + clock.pending).toBe(0)
  })

  test('sendInitialEvents can be rejected or ignored', async () => {
    expect((await setUp({ initialEvents: 'refuse' }).call('GET', LIST_WATCH)).body).toMatchObject({ reason: 'Invalid' })
    const { api, watch } = setUp({ initialEvents: 'ignore' })
    api.seed(ConfigMap, map('a'))
    const { events } = await watch(LIST_WATCH)
    await settle()
    expect(events).toEqual(['ADDED a'])
  })
})

describe('MemoryApi faults', () => {
  test('requests are recorded and can be answered, lost and delayed', async () => {
    const { api, clock, call } = setUp()
    let next: 'drop' | 'drop-response' | 'refuse' | undefined = 'drop'
    api.intercept(() => (next === 'refuse' ? refuse(429, 'TooManyRequests', 'slow down', 3) : next))
    await expect(call('POST', MAPS, map('a'))).rejects.toMatchObject({ code: 'TENURE_CONNECTION_LOST' })
    expect(api.objects(ConfigMap)).toHaveLength(0)
    next = 'drop-response'
    await expect(call('POST', MAPS, map('a'))).rejects.toMatchObject({ code: 'TENURE_CONNECTION_LOST' })
    expect(api.objects(ConfigMap)).toHaveLength(1)
    next = 'refuse'
    expect(await call('GET', MAPS)).toMatchObject({ status: 429, headers: { 'retry-after': '3' } })
    next = undefined
    api.delayResponses(() => 1000)
    let done = false
    const slow = call('DELETE', `${MAPS}/a`).then(() => (done = true))
    await clock.advance(999)
    expect([done, api.objects(ConfigMap).length]).toEqual([false, 0])
    await clock.advance(1)
    await slow
    expect(api.requests.map(({ verb, plural }) => `${verb} ${plural}`)).toEqual([
      'create configmaps',
      'create configmaps',
      'list configmaps',
      'delete configmaps',
    ])
  })
})
