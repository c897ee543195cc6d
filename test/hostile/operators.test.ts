/** Random requests to every route of the operators' HTTP APIs and webhooks, in the form of raw bytes. */
import { systemRandom } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type HttpRoute, operatorRoutes, type ServedKind, webhookUrls } from './http-routes.ts'
import { leastWork, MAX_TURN_MS } from './least-work.ts'
import { type Prober, type Received, send, type ServerUnderTest, startProber, startServer } from './processes.ts'
import { RequestGenerator, SPARED_NAME } from './random-requests.ts'
import { sendRaw } from './raw-http.ts'

const SECONDS = Number(process.env['HOSTILE_SECONDS'] ?? 8)
const SEED = Number(process.env['HOSTILE_SEED'] ?? Math.floor(systemRandom.fraction() * 1e9))
/** More of them in a long run, which is mainly for the random requests: each takes up to a second. */
const LARGE_BODIES = Math.min(2 * SECONDS, 200)
const LARGE_BYTES = 3_000_000
/** Histories and caches have a fixed size and fill up in a long run; memory that grows after that is lost. */
const WARM_UP_SECONDS = SECONDS > 60 ? SECONDS / 3 : 0
const MAX_GROWTH = 1.3
/** Collected garbage and caches of a small heap differ from run to run. */
const NOISE_BYTES = 30_000_000
const CONCURRENCY = 8
const POLL = { timeout: 60_000, interval: 100 }
const APPLICATIONS = '/apis/cloudnative.elide.dev/v1/namespaces'

let server: ServerUnderTest
let prober: Prober
/** A server, and a route of it. */
let targets: readonly { readonly server: string; readonly route: HttpRoute }[]
let routes: readonly HttpRoute[]

interface ObjectSummary {
  readonly kind?: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string; generation?: number }
}

async function ask(method: string, path: string, value?: object): Promise<Received> {
  const headers = { authorization: `Bearer ${server.token}` }
  return send({ method, url: `${server.url}${path}`, headers, ...(value && { body: JSON.stringify(value) }) })
}

async function get<T>(path: string): Promise<T> {
  return JSON.parse((await ask('GET', path)).text) as T
}

interface Collection extends ServedKind {
  readonly path: string
  readonly isNamespaced: boolean
}

interface Discovered {
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
    readonly verbs: readonly string[]
  }[]
}

/** Every kind that can be listed and deleted, with its path; Events come and go. */
async function collections(): Promise<readonly Collection[]> {
  const { groups } = await get<{ groups: { preferredVersion: { groupVersion: string } }[] }>('/apis')
  const versions = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)]
  const found = await Promise.all(
    versions.map(async (version) => {
      const { resources } = await get<Discovered>(version)
      const apiVersion = version.replace(/^\/apis?\//, '')
      return resources
        .filter(({ name, verbs }) => verbs.includes('list') && verbs.includes('delete') && name !== 'events')
        .map(({ name: plural, kind, namespaced: isNamespaced }) => {
          return { apiVersion, kind, plural, isNamespaced, path: `${version}/${plural}` }
        })
    }),
  )
  return found.flat()
}

/** Every object outside the attacked namespace. A controller may write its status, which changes no generation. */
async function innocents(): Promise<readonly string[]> {
  const lists = await Promise.all(
    (await collections()).map(async ({ path }) => {
      const { items } = await get<{ items: ObjectSummary[] }>(path)
      return items
        .filter(({ metadata: { namespace } }) => namespace !== 'hostile')
        .map(({ metadata: { namespace = '', name, uid, generation = 0 } }) =>
          [path, namespace, name, uid, generation].join(' '),
        )
    }),
  )
  return lists.flat().toSorted()
}

const application = (name: string): object => ({ metadata: { name }, spec: { image: 'nginx', replicas: 1 } })

async function createApplication(namespace: string, name: string): Promise<void> {
  const url = `${server.http}${APPLICATIONS}/${namespace}/applications`
  const headers = { 'content-type': 'application/json' }
  const { status, text } = await send({ method: 'POST', url, headers, body: JSON.stringify(application(name)) })
  if (status !== 201) throw new Error(`${status} ${text}`)
}

/** Resolves when the operators have rolled out an Application. */
async function whenReady(namespace: string, name: string): Promise<void> {
  const path = `${APPLICATIONS}/${namespace}/applications/${name}`
  await vi.waitFor(async () => {
    const { status } = await get<{ status?: { readyReplicas?: number } }>(path)
    expect(status?.readyReplicas).toBe(1)
  }, POLL)
}

/** The path of a kind in the attacked namespace. */
const inHostile = (path: string): string => path.replace(/(.*)\//, '$1/namespaces/hostile/')

/** Deletes all that valid requests have stored, and waits until it is gone. */
async function emptyAttacked(): Promise<void> {
  const namespaced = (await collections()).filter(({ isNamespaced }) => isNamespaced)
  const kept = /\/(serviceaccounts|configmaps)$/
  const emptied = [...namespaced.map(({ path }) => path).filter((path) => !kept.test(path)), '/api/v1/events']
  const claims = '/api/v1/namespaces/hostile/configmaps?labelSelector=claim-controller.io/claim.id'
  await vi.waitFor(async () => {
    for (const path of emptied) await ask('DELETE', inHostile(path))
    await ask('DELETE', claims)
    expect((await get<{ items: ObjectSummary[] }>(claims)).items).toEqual([])
    const lists = await Promise.all(
      emptied.map(async (path) => (await get<{ items: ObjectSummary[] }>(inHostile(path))).items.map(() => path)),
    )
    // Controllers record Events about deletions.
    expect(lists.flat().filter((path) => path !== '/api/v1/events')).toEqual([])
  }, POLL)
}

beforeAll(async () => {
  server = await startServer()
  prober = startProber([`${server.url}/livez`, `${server.http}/healthz`, `${server.guarded}/healthz`])
  for (const name of ['hostile', 'innocent']) await ask('POST', '/api/v1/namespaces', { metadata: { name } })
  await vi.waitFor(() => createApplication('innocent', SPARED_NAME), POLL)
  await whenReady('innocent', SPARED_NAME)
  routes = await operatorRoutes(server.http, await collections())
  const urls = await vi.waitFor(async () => {
    const found = await webhookUrls(server.url, server.token)
    if (found.length === 0) throw new Error('No webhook is registered')
    return found
  }, POLL)
  const webhooks = urls.map((url) => {
    const { origin, pathname } = new URL(url)
    const route = { method: 'POST', path: pathname, query: [], body: {}, statuses: [], kind: undefined }
    return { server: origin, route }
  })
  targets = [...routes.map((route) => ({ server: server.http, route })), ...webhooks]
}, 120_000)

afterAll(async () => {
  await prober.stop()
  await server.stop()
})

test('every operator with HTTP routes and webhooks is attacked', () => {
  const paths = routes.map(({ method, path }) => `${method} ${path}`)
  expect(paths).toContain('POST /validate')
  expect(paths).toContain('POST /mutate')
  expect(paths).toContain(`DELETE ${APPLICATIONS}/{namespace}/applications/{name}`)
  const webhooks = targets.filter((target) => target.server !== server.http).map(({ route }) => route.path)
  expect(webhooks.toSorted()).toEqual(['/mutate', '/validate'])
})

test(
  `no large body of the seed ${SEED} blocks the operators for more than 1 s or ends them`,
  async () => {
    const random = seededRandom(SEED)
    const withBody = targets.filter(({ route }) => route.body)
    const problems: string[] = []
    await server.ask('statistics')
    for (let number = 0; number < LARGE_BODIES; number++) {
      const target = withBody[number % withBody.length]
      if (!target) throw new Error('No route takes a body')
      const { method, path } = target.route
      const body = new RequestGenerator(random, routes, target.server).largeBody(target.route, LARGE_BYTES)
      const url = `${target.server}${path.replace('{namespace}', 'hostile').replace('{name}', 'app-0')}`
      const headers = { 'content-type': 'application/json' }
      const { status, cpu } = await leastWork(server, () => send({ method, url, headers, body }))
      const name = `large body ${number} of seed ${SEED}: ${method} ${path}`
      if (cpu > MAX_TURN_MS) problems.push(`${name}: ${Math.round(cpu)} ms of CPU`)
      if (status === 0 || status >= 500) problems.push(`${name}: ${status || 'no response'}`)
    }
    expect(problems).toEqual([])
  },
  (10 * SECONDS + 120) * 1_000,
)

test(
  `no random request of the seed ${SEED} to the operators is carried out in part, or harms them or other namespaces`,
  async () => {
    const random = seededRandom(SEED)
    await emptyAttacked()
    const before = await innocents()
    const problems: string[] = []
    const statuses = new Map<number, number>()
    let sent = 0
    const attack = async (first: number, until: number): Promise<void> => {
      while (sent - first < 4 * targets.length || performance.now() < until) {
        const number = sent++
        const target = targets[number % targets.length]
        if (!target) throw new Error('There are no routes')
        const { route } = target
        const request = new RequestGenerator(random, routes, target.server).request(route)
        const isOperator = target.server === server.http
        const to = request.isGuarded && isOperator ? server.guarded : target.server
        const { status, text } = await sendRaw(to, request.bytes, request.ending)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        const line = request.bytes.toString('latin1', 0, 200).split('\r\n', 1)[0]
        const name = `request ${number} of seed ${SEED}, ${request.what} at ${to}: ${line}`
        if (status === 0 && !request.mayBeDropped) problems.push(`${name}: no response, ${text}`)
        if (status >= 500 && !route.statuses.includes(status)) problems.push(`${name}: ${text.slice(0, 500)}`)
        if (to === server.guarded && route.path.includes('{') && status < 400 && status > 0)
          problems.push(`${name}: ${status} without a token`)
      }
    }
    const attackFor = async (seconds: number): Promise<void> => {
      const [first, until] = [sent, performance.now() + seconds * 1_000]
      await Promise.all(Array.from({ length: CONCURRENCY }, () => attack(first, until)))
      expect(problems).toEqual([])
    }
    if (WARM_UP_SECONDS > 0) {
      await attackFor(WARM_UP_SECONDS)
      await emptyAttacked()
    }
    const warm = await server.ask('collect')
    expect(warm.longest.cpu).toBeLessThan(MAX_TURN_MS)
    await attackFor(SECONDS - WARM_UP_SECONDS)
    await emptyAttacked()
    expect(await innocents()).toEqual(before)
    // Requests were understood, refused, and not found: the generator reaches all of it.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 401, 403, 404, 405, 415]))
    const after = await server.ask('collect')
    expect(after.isPolluted).toBe(false)
    expect(after.longest.cpu).toBeLessThan(MAX_TURN_MS)
    expect(after.memory).toBeLessThan(warm.memory * MAX_GROWTH + NOISE_BYTES)
    await createApplication('hostile', 'after')
    await whenReady('hostile', 'after')
  },
  (SECONDS + 300) * 1_000,
)

test('the probes of another process were answered during the attack on the operators', async () => {
  const { longestWait } = await server.ask('statistics')
  const { probes, failures, longestGap, longestDelay } = await prober.report()
  expect(failures).toEqual([])
  expect(probes).toBeGreaterThan(50)
  // A probe takes several turns of both processes, and each measures how long it waits for a processor.
  expect(longestGap).toBeLessThan(2 * MAX_TURN_MS + 4 * (longestWait + longestDelay))
})
