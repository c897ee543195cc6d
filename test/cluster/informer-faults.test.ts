/** Tests an informer with connection faults of all kinds during continuous writes. */
import { applications } from '@tenure/applications'
import type { ConnectionConfig, KubeObject, Stored, Transport } from '@tenure/kube'
import { Client, connectTo, HttpTransport, isGone, keyOf, loadConfig } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { type ManagerContext, type Operator, runOperators } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Cluster, startCluster } from './cluster.ts'
import { activeResources, untilNothingIsLeft } from './support/active-resources.ts'
import { Churn } from './support/churn.ts'
import { type Connected, connect, connectWith } from './support/connect.ts'
import { customResource } from './support/custom-resource.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'
import { createNamespace } from './support/namespace.ts'
import { ObservedInformer } from './support/observed-informer.ts'
import { until } from './support/until.ts'

const IDLE_TIMEOUT = 1_500
const IMPATIENT = { connectTimeout: IDLE_TIMEOUT, headersTimeout: IDLE_TIMEOUT, bodyTimeout: IDLE_TIMEOUT }
/** Enough that every fault interrupts some writes, and few enough that two cores are not saturated. */
const WRITES_PER_SECOND = 120

interface Scene {
  readonly admin: Connected['client']
  readonly namespace: string
  readonly observed: ObservedInformer<ConfigMap>
  readonly churn: Churn
  /** Waits until the writers have completed this many more writes. */
  moreWrites(count: number): Promise<void>
}

/**
 * Runs a live informer and busy writers, then `act`; then stops the writers and checks that the cache equals the server
 * and that no resource is left.
 */
async function play(
  cluster: Cluster,
  config: ConnectionConfig,
  act: (scene: Scene) => Promise<void>,
  initialEvents = false,
): Promise<void> {
  const before = activeResources()
  const writer = await connect(cluster.kubeconfig, {
    transport: IMPATIENT,
    client: { retry: { attempts: 1 }, rateLimit: { qps: WRITES_PER_SECOND, burst: 1 } },
  })
  const admin = await connect(cluster.kubeconfig)
  const reader = connectWith(config, { transport: IMPATIENT })
  const namespace = (await createNamespace(admin.client, 'faults')).name
  const churn = new Churn(writer.client, namespace)
  const moreWrites = (count: number): Promise<void> => {
    const goal = churn.written.length + count
    return until(`${count} more writes`, () => churn.written.length >= goal)
  }
  await moreWrites(20)
  const tuning = { idleTimeout: IDLE_TIMEOUT, initialEventsTimeout: IDLE_TIMEOUT, pageSize: 5, initialEvents }
  const observed = new ObservedInformer(ConfigMap, namespace, { ...tuning, api: reader.client })
  try {
    await observed.whenSynced()
    await moreWrites(20)
    expect(observed.state).toBe('live')
    await act({ admin: admin.client, namespace, observed, churn, moreWrites })
    await churn.stop()
    await observed.expectEqualTo(admin.client)
  } finally {
    await churn.stop()
    await observed.stop()
    await Promise.all([writer, admin, reader].map((connected) => connected.close()))
  }
  await untilNothingIsLeft(before)
}

/** Does the same with a faulty proxy in between. */
async function playBehindProxy(
  cluster: Cluster,
  act: (proxy: FaultyProxy, scene: Scene) => Promise<void>,
  initialEvents = false,
): Promise<void> {
  const before = activeResources()
  const proxy = await FaultyProxy.start(cluster)
  try {
    await play(cluster, connectTo({ server: proxy.address }), (scene) => act(proxy, scene), initialEvents)
    await until('the proxy has no connection', () => proxy.connections === 0)
  } finally {
    await proxy.close()
  }
  await untilNothingIsLeft(before)
}

/** Checks that events of all writes from here on have arrived once the cache is up to date. */
async function expectNoneMissed({ admin, churn, observed }: Scene, from: number): Promise<void> {
  await churn.stop()
  await observed.expectEqualTo(admin)
  const written = churn.written.slice(from)
  expect(written.length).toBeGreaterThan(40)
  expect(observed.missed(written)).toEqual([])
}

describe('an informer', () => {
  let cluster: Cluster
  let config: ConnectionConfig

  beforeAll(async () => {
    cluster = await startCluster({ progress: () => {} })
    config = await loadConfig({ kubeconfigPath: cluster.kubeconfig, env: {} })
  })

  afterAll(() => cluster.stop())

  describe('during faults of the API server', () => {
    test('an informer is down while the server is crashed, reports why, and catches up', async () => {
      await play(cluster, config, async ({ observed, moreWrites }) => {
        await cluster.stopApiServer('SIGKILL')
        expect(await observed.whenDown()).toMatchObject({ code: expect.stringMatching(/^TENURE_CONNECTION_/) })
        await until('a connection is refused', () => observed.failures.some(isRefused))
        expect(observed.informer.health).toMatchObject({
          state: 'down',
          error: { message: expect.stringContaining(`Nothing listens at the API server's address ${cluster.server}`) },
        })
        // The cached objects stay readable.
        expect(observed.informer.synced).toBe(true)
        expect(observed.informer.cache.size).toBeGreaterThan(0)
        await cluster.startApiServer()
        await observed.whenLive()
        await moreWrites(20)
        expect(observed.transitions.slice(0, 2)).toEqual(['down', 'live'])
      })
    })

    test('an informer catches up after a clean restart', async () => {
      await play(cluster, config, async ({ observed, moreWrites }) => {
        const restarted = cluster.restartApiServer('SIGTERM')
        const reason = await observed.whenDown()
        expect(reason).toMatchObject({ code: expect.stringMatching(/^TENURE_(API|CONNECTION|WATCH)_/) })
        await restarted
        await observed.whenLive()
        await moreWrites(20)
      })
    })

    test('an informer resumes after the server was frozen past the idle timeout', async () => {
      await play(cluster, config, async (scene) => {
        const { observed, churn, moreWrites } = scene
        const from = churn.written.length
        cluster.apiServer.pause()
        try {
          expect(await observed.whenDown()).toMatchObject({
            code: 'TENURE_WATCH_QUIET',
            message: expect.stringContaining('no data for 1.5 seconds'),
          })
        } finally {
          cluster.apiServer.resume()
        }
        await observed.whenLive()
        await moreWrites(50)
        await expectNoneMissed(scene, from)
      })
    })
  })

  test('an informer relists when the server was restored to an older revision', async () => {
    const before = activeResources()
    const admin = await connect(cluster.kubeconfig)
    const namespace = (await createNamespace(admin.client, 'faults')).name
    const http = new HttpTransport(config)
    const asked: string[] = []
    const request: Transport['request'] = (given) => {
      const isResumed = given.path.includes('resourceVersion=')
      // A restored server and a watch from a future resourceVersion look the same to the server.
      const isAhead = isResumed && !asked.includes('resume')
      asked.push(isResumed ? 'resume' : 'stream')
      return http.request(isAhead ? { ...given, path: given.path.replace(/resourceVersion=\d/, '$&000') } : given)
    }
    const api = new Client({ transport: { request, close: () => http.close() } })
    const tuning = { idleTimeout: IDLE_TIMEOUT, initialEvents: true }
    const observed = new ObservedInformer(ConfigMap, namespace, { ...tuning, api })
    await observed.whenSynced()
    await until('the watch is resumed', () => asked.includes('resume'))
    await admin.client.create(ConfigMap, { metadata: { name: 'unseen', namespace } })
    await observed.expectEqualTo(admin.client)
    expect(asked.slice(0, 3)).toEqual(['stream', 'resume', 'stream'])
    expect(observed.failures[0]).toMatchObject({ code: 'TENURE_WATCH_QUIET' })
    await observed.stop()
    await Promise.all([admin.close(), http.close()])
    await untilNothingIsLeft(before)
  })

  describe('during faults of the network', () => {
    test('dropped connections lose no event', async () => {
      await playBehindProxy(cluster, async (proxy, scene) => {
        const { observed, churn, moreWrites } = scene
        const from = churn.written.length
        for (let drop = 1; drop <= 2; drop++) {
          proxy.drop()
          expect(await observed.whenDown()).toMatchObject({
            code: 'TENURE_CONNECTION_BROKEN',
            message: expect.stringContaining(`The connection to the API server ${proxy.address}`),
          })
          await observed.whenLive()
          await moreWrites(20)
        }
        expect(observed.transitions.slice(0, 4)).toEqual(['down', 'live', 'down', 'live'])
        await expectNoneMissed(scene, from)
      })
    })

    test('a half-open connection is detected by its silence and loses no event', async () => {
      await playBehindProxy(cluster, async (proxy, scene) => {
        const { observed, churn } = scene
        const from = churn.written.length
        proxy.set('hold')
        expect(await observed.whenDown()).toMatchObject({ code: 'TENURE_WATCH_QUIET' })
        // Waits for one attempt while the network is still blocked.
        await until('the informer has tried again', () => observed.failures.length > 1)
        proxy.set('forward')
        await observed.whenLive()
        await expectNoneMissed(scene, from)
        // The dead connections never received a close.
        expect(proxy.held).toBeGreaterThan(1)
        proxy.dropHeld()
      })
    })

    test('byte-by-byte delivery loses no event', async () => {
      await playBehindProxy(cluster, async (proxy, scene) => {
        const { admin, namespace, observed, churn } = scene
        await churn.stop()
        // Both the list and the watch arrive in single bytes.
        proxy.set('bytes')
        proxy.drop()
        const slow = connectWith(connectTo({ server: proxy.address }))
        const second = new ObservedInformer(ConfigMap, namespace, { api: slow.client })
        await second.whenSynced()
        await observed.whenLive()
        const more = await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            admin.create(ConfigMap, { metadata: { name: `byte-${index}`, namespace }, data: { text: 'ä€😀\n"' } }),
          ),
        )
        const written = more.map(({ metadata }) => `${keyOf(metadata)}@${metadata.resourceVersion}`)
        for (const each of [observed, second]) {
          await each.expectEqualTo(admin)
          expect(each.missed(written)).toEqual([])
        }
        expect(second.failures).toEqual([])
        await second.stop()
        await slow.close()
      })
    })

    test('objects replaced during an outage are reported as deleted and added', async () => {
      await playBehindProxy(cluster, async (proxy, scene) => {
        const { admin, namespace, observed, churn } = scene
        const twin = { name: 'twin', namespace }
        const old = await admin.create(ConfigMap, { metadata: twin })
        await until('the twin is cached', () => observed.informer.cache.get(twin) !== undefined)
        const from = churn.written.length
        proxy.set('refuse')
        await observed.whenDown()
        await admin.delete(ConfigMap, twin)
        const recreated = await admin.create(ConfigMap, { metadata: twin })
        proxy.set('forward')
        await observed.whenLive()
        await scene.moreWrites(40)
        await expectNoneMissed(scene, from)
        expectReplaced(observed, old, recreated)
        expect(observed.failures.some(isGone)).toBe(false)
      })
    })

    test('an informer relists after 410 Gone and reports the difference', async () => {
      await playBehindProxy(cluster, async (proxy, { admin, namespace, observed, moreWrites }) => {
        const [twin, ended, fresh] = ['twin', 'ended', 'fresh'].map((name) => ({ name, namespace })) as [Ref, Ref, Ref]
        const old = await admin.create(ConfigMap, { metadata: twin })
        await admin.create(ConfigMap, { metadata: ended })
        await until('both objects are cached', () => observed.informer.cache.get(ended) !== undefined)
        proxy.set('refuse')
        await observed.whenDown()
        await Promise.all([admin.delete(ConfigMap, twin), admin.delete(ConfigMap, ended)])
        const recreated = await admin.create(ConfigMap, { metadata: twin })
        await admin.create(ConfigMap, { metadata: fresh })
        // A new server process has no history from before its start.
        await cluster.restartApiServer('SIGKILL')
        await moreWrites(20)
        proxy.set('forward')
        await observed.whenLive()
        await until('the new object is cached', () => observed.informer.cache.get(fresh) !== undefined)
        expect(observed.failures.some(isGone)).toBe(true)
        expectReplaced(observed, old, recreated)
        const received = observed.model.log.map((line) => line.slice(0, line.indexOf('@')))
        expect(received).toContain(`deleted ${keyOf(ended)}`)
        expect(received).toContain(`added ${keyOf(fresh)}`)
      })
    })
  })

  test('an informer of a custom kind survives the removal and return of its definition', async () => {
    const before = activeResources()
    const admin = await connect(cluster.kubeconfig)
    const reader = await connect(cluster.kubeconfig)
    const namespace = (await createNamespace(admin.client, 'faults')).name
    const gizmos = customResource<KubeObject>(admin.client, { kind: 'Gizmo' })
    await gizmos.install()
    const one = await admin.client.create(gizmos.kind, { metadata: { name: 'one', namespace } })
    const observed = new ObservedInformer(gizmos.kind, namespace, { api: reader.client })
    await observed.whenSynced()
    await observed.expectEqualTo(admin.client)

    await gizmos.uninstall()
    expect(await observed.whenDown()).toMatchObject({
      code: 'TENURE_KIND_UNKNOWN',
      message:
        `The API server does not serve gizmos.${gizmos.kind.group}/v1: ` +
        'install its CustomResourceDefinition or serve that version. Retrying.',
    })
    await until('its objects are gone', () => observed.informer.cache.size === 0)

    await gizmos.install()
    const recreated = await admin.client.create(gizmos.kind, { metadata: { name: 'one', namespace } })
    await observed.whenLive()
    await observed.expectEqualTo(admin.client)
    expectReplaced(observed, one, recreated)
    await observed.stop()
    await Promise.all([admin.close(), reader.close()])
    await untilNothingIsLeft(before)
  })

  test('the readiness of an operator turns red within 15 s of a cut connection, and green again', async () => {
    const proxy = await FaultyProxy.start(cluster)
    const end = new AbortController()
    let context: ManagerContext | undefined
    const observed: Operator = {
      ...applications,
      setup(given) {
        context = given
        return applications.setup(given as Parameters<typeof applications.setup>[0])
      },
    }
    const config = connectTo({ server: proxy.address })
    const ended = runOperators({ operators: [observed], config, leaderElection: false, webhooks: 'none' }, end.signal)
    const isReady = async (): Promise<boolean> =>
      ((await context?.probes.check('ready')) ?? [{ problem: 'not set up' }]).every(({ problem }) => !problem)
    try {
      await until('the operator is ready', isReady)
      proxy.set('refuse')
      await until('the operator is not ready', async () => !(await isReady()), 15_000)
      proxy.set('forward')
      await until('the operator is ready again', isReady)
      expect(await isReady()).toBe(true)
    } finally {
      end.abort()
      await ended
      await proxy.close()
    }
  })
})

describe('an informer of a server without list streaming that compacts its history at once', () => {
  let cluster: Cluster

  beforeAll(async () => {
    cluster = await startCluster({
      progress: () => {},
      apiServerArgs: ['--watch-cache=false', '--feature-gates=WatchList=false', '--etcd-compaction-interval=1s'],
    })
  })

  afterAll(() => cluster.stop())

  test.each([
    { mode: 'in one request', initialEvents: false },
    { mode: 'in pages after initial events were rejected', initialEvents: true },
  ])('the informer lists $mode, and relists when its resourceVersion was compacted', async ({ initialEvents }) => {
    await playBehindProxy(cluster, beAwayForTooLong, initialEvents)
  })
})

async function beAwayForTooLong(proxy: FaultyProxy, { admin, namespace, observed, moreWrites }: Scene): Promise<void> {
  const { items } = await admin.list(ConfigMap, { namespace })
  // More than one page.
  expect(items.length).toBeGreaterThan(5)
  proxy.set('refuse')
  await observed.whenDown()
  // Newer than everything the informer has seen: when this version is compacted, so is the informer's.
  const { metadata } = await admin.list(ConfigMap, { namespace })
  const past = metadata.resourceVersion
  // The server does not announce a compaction; a request for an old version reveals it.
  await until('the past is compacted', () => isCompacted(admin, namespace, past))
  await moreWrites(20)
  proxy.set('forward')
  await observed.whenLive()
  await until('the informer received Gone', () => observed.failures.some(isGone))
  await moreWrites(20)
}

interface Ref {
  readonly name: string
  readonly namespace: string
}

const isRefused = (error: Error): boolean => 'code' in error && error.code === 'TENURE_CONNECTION_REFUSED'

async function isCompacted(api: Connected['client'], namespace: string, resourceVersion: string): Promise<boolean> {
  try {
    await api.list(ConfigMap, { namespace, resourceVersion, resourceVersionMatch: 'Exact', limit: 1 })
    return false
  } catch (error) {
    if (isGone(error)) return true
    throw error
  }
}

/** The old object's deletion is reported, then the new object, and never an update from one to the other. */
function expectReplaced(
  { informer, model }: ObservedInformer<KubeObject>,
  old: Stored<KubeObject>,
  recreated: Stored<KubeObject>,
): void {
  const key = keyOf(old.metadata)
  const about = model.log.filter((line) => line.split(/[ @]/)[1] === key)
  expect(about.map((line) => line.split(' ')[0])).toEqual(['added', 'deleted', 'added'])
  expect(about.at(-1)).toBe(`added ${key}@${recreated.metadata.resourceVersion}`)
  expect(informer.cache.getByKey(key)?.metadata.uid).toBe(recreated.metadata.uid)
}
