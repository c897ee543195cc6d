import { Client, defineKind, isConflict, isGone, type Kind, type KubeObject } from '@tenure/kube'
import { ConfigMap, Deployment, Event, Namespace, Pod, ServiceAccount } from '@tenure/kube/kinds'
import { seededRandom, settle, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { crdFor, refuse, TestControlPlane, type TestControlPlaneOptions } from './index.ts'

interface Site extends KubeObject {
  readonly spec?: { readonly size: number }
  readonly status?: { readonly phase: string }
}
const Site: Kind<Site> = defineKind<Site>({ apiVersion: 'example.dev/v1', kind: 'Site' })

const ref = { name: 'a', namespace: 'shop' }

async function setup(options: TestControlPlaneOptions = {}) {
  const clock = new VirtualClock()
  const server = await TestControlPlane.start({ clock, ...options })
  onTestFinished(() => server.stop())
  const client = new Client({ transport: server.transport, clock, random: seededRandom(2), retry: { attempts: 1 } })
  return { server, clock, client }
}

/** The types and names of a watch's events, as they arrive, and how it ended. */
function follow(client: Client, resourceVersion: string) {
  const seen: string[] = []
  const state = { ended: 'open' }
  const run = async (): Promise<void> => {
    for await (const events of client.watch(ConfigMap, { resourceVersion })) {
      for (const event of events) {
        if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`)
      }
    }
  }
  run().then(
    () => (state.ended = 'end'),
    (error: unknown) => (state.ended = (error as { readonly code?: string }).code ?? String(error)),
  )
  return { seen, state }
}

async function contents(): Promise<unknown> {
  const { server, client } = await setup({ crds: [crdFor(Site)] })
  await client.create(ConfigMap, { metadata: { generateName: 'a-', namespace: 'default' } })
  server.seed(Site, { metadata: ref })
  return [server.objects(Namespace), server.objects(ConfigMap), server.objects(Site)]
}

describe('TestControlPlane objects', () => {
  test('a seeded object is visible at once, without a request', async () => {
    const { server, client } = await setup()
    const stored = server.seed(ConfigMap, { metadata: ref, data: { a: '1' } })
    expect(stored.metadata).toMatchObject({ ...ref, creationTimestamp: '2026-01-01T00:00:00Z' })
    expect(server.peek(ConfigMap, ref)).toEqual(stored)
    expect(server.revision).toBe(stored.metadata.resourceVersion)
    expect(server.requests).toEqual([])
    expect(await client.get(ConfigMap, ref)).toEqual(stored)
  })

  test('seeding again keeps the identity and counts changes of the spec', async () => {
    const { server } = await setup({ crds: [crdFor(Site)] })
    const first = server.seed(Site, { metadata: ref, spec: { size: 1 } })
    const second = server.seed(Site, {
      metadata: { ...ref, labels: { a: 'b' } },
      spec: { size: 1 },
      status: { phase: 'Up' },
    })
    const third = server.seed(Site, { metadata: ref, spec: { size: 2 } })
    expect([first, second, third].map(({ metadata }) => metadata.generation)).toEqual([1, 1, 2])
    expect(third.metadata).toMatchObject({ uid: first.metadata.uid, labels: { a: 'b' } })
    expect(third.status).toBeUndefined()
    expect(server.seed(Site, third).metadata.resourceVersion).toBe(third.metadata.resourceVersion)
  })

  test('unseeding removes an object that finalizers hold', async () => {
    const { server, client } = await setup()
    server.seed(ConfigMap, { metadata: { ...ref, finalizers: ['example.dev/hold'] } })
    const changes: string[] = []
    server.onChange(ConfigMap, ({ before, after }) => changes.push(`${before?.metadata.name} ${after?.metadata.name}`))
    await client.delete(ConfigMap, ref)
    expect(server.peek(ConfigMap, ref)?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z')
    server.unseed(ConfigMap, ref)
    expect(server.objects(ConfigMap)).toEqual([])
    expect(changes).toEqual(['a a', 'a undefined'])
  })

  test('a change listener may seed', async () => {
    const { server } = await setup()
    const seen: string[] = []
    server.onChange(ConfigMap, ({ after }) => {
      if (after?.metadata.name === 'a') server.seed(ConfigMap, { metadata: { ...ref, name: 'b' } })
    })
    server.onChange(ConfigMap, ({ after }) => seen.push(after?.metadata.name ?? ''))
    server.seed(ConfigMap, { metadata: ref })
    expect(seen).toEqual(['a', 'b'])
  })

  test('an event is read in the version of its kind', async () => {
    const { server, client } = await setup()
    server.seed(Event, { metadata: ref, eventTime: '2026-01-01T00:00:00.000000Z', note: 'hello' })
    expect(server.peek(Event, ref)).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'hello' })
    expect(await client.get(Event, ref)).toMatchObject({ note: 'hello' })
  })

  test('the namespace of a seeded object exists, with its service account', async () => {
    const { server, client } = await setup({ namespaces: ['early'] })
    server.seed(ConfigMap, { metadata: ref })
    expect(server.objects(Namespace).map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['default', 'early', 'shop']),
    )
    expect(server.peek(ServiceAccount, { name: 'default', namespace: 'shop' })).toBeDefined()
    const pod = await client.create(Pod, { metadata: ref, spec: { containers: [{ name: 'app', image: 'app:1' }] } })
    expect(pod.spec?.serviceAccountName).toBe('default')
  })

  test('a kind without a definition is refused with the way out', async () => {
    const { server } = await setup()
    expect(() => server.seed(Site, { metadata: ref })).toThrow(/crdFor\(Site\)/)
  })

  test('controllers run on request', async () => {
    const { server, clock } = await setup({ controllers: true })
    const labels = { app: 'web' }
    await server.client.create(Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      },
    })
    const read = () => server.peek(Deployment, { name: 'web', namespace: 'default' })
    await clock.advanceUntil(() => read()?.status?.readyReplicas === 1)
    expect(server.objects(Pod)).toHaveLength(1)
  })

  test('two control planes with the same seed store the same', async () => {
    expect(await contents()).toEqual(await contents())
  })
})

describe('TestControlPlane requests', () => {
  test('requests are recorded in Kubernetes terms', async () => {
    const { server, client } = await setup({ namespaces: ['shop'] })
    await client.apply(ConfigMap, { metadata: ref, data: { a: '1' } })
    await client.list(ConfigMap)
    await server.transport.request({ method: 'GET', path: '/apis' })
    await server.client.list(Pod)
    expect(server.requests.map(({ verb, plural, name, path }) => [verb, plural || path, name])).toEqual([
      ['apply', 'configmaps', 'a'],
      ['list', 'configmaps', ''],
      ['get', '/apis', ''],
    ])
    expect(server.requests[0]).toMatchObject({
      namespace: 'shop',
      body: { data: { a: '1' } },
      at: Date.UTC(2026, 0, 1),
    })
    server.clearRequests()
    expect(server.requests).toEqual([])
  })

  test('an interceptor answers, loses a request, or loses its response', async () => {
    const { server, client } = await setup({ namespaces: ['shop'] })
    const map = { metadata: ref }
    const end = server.intercept(({ verb }) => (verb === 'create' ? refuse(409, 'Conflict', 'not now') : undefined))
    expect(isConflict(await client.create(ConfigMap, map).catch((error: unknown) => error))).toBe(true)
    end()
    const endDrop = server.intercept(() => 'drop')
    await expect(client.create(ConfigMap, map)).rejects.toMatchObject({ code: 'TENURE_CONNECTION_LOST' })
    expect(server.peek(ConfigMap, ref)).toBeUndefined()
    endDrop()
    const endLoss = server.intercept(() => 'drop-response')
    await expect(client.create(ConfigMap, map)).rejects.toMatchObject({ code: 'TENURE_CONNECTION_LOST' })
    expect(server.peek(ConfigMap, ref)).toBeDefined()
    endLoss()
  })

  test('a delayed response arrives in virtual time', async () => {
    const { server, client, clock } = await setup()
    server.delayResponses(({ verb }) => (verb === 'list' ? 5_000 : 0))
    let isDone = false
    const listed = client.list(ConfigMap).finally(() => (isDone = true))
    await clock.advance(4_999)
    expect(isDone).toBe(false)
    await clock.advance(1)
    await listed
  })

  test('RBAC limits another user', async () => {
    const { server, clock } = await setup()
    const transport = server.transportAs({ name: 'jane', groups: ['system:authenticated'] })
    const jane = new Client({ transport, clock, random: seededRandom(2), retry: { attempts: 1 } })
    await expect(jane.list(Pod)).rejects.toMatchObject({ status: 403 })
    expect(server.requests).toHaveLength(1)
  })
})

describe('TestControlPlane watches', () => {
  test('held events are delivered one by one', async () => {
    const { server, client } = await setup()
    const { seen } = follow(client, server.revision)
    await settle()
    server.holdWatches()
    for (const name of ['a', 'b', 'c']) server.seed(ConfigMap, { metadata: { ...ref, name } })
    await settle()
    expect(seen).toEqual([])
    server.releaseWatches(1)
    await settle()
    expect(seen).toEqual(['ADDED a'])
    server.releaseWatches()
    server.seed(ConfigMap, { metadata: { ...ref, name: 'd' } })
    await settle()
    expect(seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d'])
  })

  test('a watch can break, end or hang', async () => {
    const { server, client } = await setup()
    const broken = follow(client, server.revision)
    await settle()
    expect(server.openWatches).toBe(1)
    server.dropWatches()
    await settle()
    expect(broken.state.ended).toBe('TENURE_CONNECTION_LOST')
    const ended = follow(client, server.revision)
    await settle()
    server.endWatches()
    await settle()
    expect(ended.state.ended).toBe('end')
    const hung = follow(client, server.revision)
    await settle()
    server.stallWatches()
    server.seed(ConfigMap, { metadata: ref })
    await settle()
    expect([hung.state.ended, hung.seen]).toEqual(['open', []])
  })

  test('a watch from a compacted revision gets 410', async () => {
    const { server, client } = await setup()
    const { revision } = server
    server.seed(ConfigMap, { metadata: ref })
    server.compact()
    const events = client.watch(ConfigMap, { resourceVersion: revision })[Symbol.asyncIterator]()
    const outcome: unknown = await events.next().catch((error: unknown) => error)
    expect(isGone(outcome)).toBe(true)
  })

  test('a stopped control plane leaves no timers', async () => {
    const clock = new VirtualClock()
    const server = await TestControlPlane.start({ clock })
    const client = new Client({ transport: server.transport, clock, random: seededRandom(2) })
    follow(client, server.revision)
    await settle()
    await server.stop()
    await settle()
    expect([server.openWatches, clock.pending]).toEqual([0, 0])
  })
})
