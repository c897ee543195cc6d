import { systemRandom } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { directedRequests, type HostileRequest, operatorRequests, randomBody, WIDGET_CRD } from './requests/index.ts'
import { items, short } from './requests/request.ts'
import { leastWork, MAX_TURN_MS } from './least-work.ts'
import { type Prober, type Received, send, type ServerUnderTest, startProber, startServer } from './processes.ts'

/**
 * Requests with bodies of up to 3 MB that are made to block, fill or end the server. HOSTILE_SECONDS and HOSTILE_SEED
 * set how long the random part runs and how it begins.
 */
const SECONDS = Number(process.env['HOSTILE_SECONDS'] ?? 10)
const SEED = Number(process.env['HOSTILE_SEED'] ?? Math.floor(systemRandom.fraction() * 1e9))
const MAX_GROWTH = 1.3
/** Collected garbage and caches of a small heap differ from run to run. */
const NOISE_BYTES = 30_000_000
const CONCURRENCY = 4
const POLL = { timeout: 30_000, interval: 100 }

let server: ServerUnderTest
let prober: Prober
/** Of an account that may do almost everything, but may not grant what it lacks. */
let account: string

const admin = (): Record<string, string> => ({ authorization: `Bearer ${server.token}` })

async function sendHostile(request: HostileRequest, authorization: string, to = server.url): Promise<Received> {
  const headers = { 'content-type': request.type, ...request.headers, ...(authorization && { authorization }) }
  return send({ method: request.method, url: `${to}${request.path}`, headers, body: request.body })
}

async function create(path: string, value: string | object): Promise<string> {
  const body = typeof value === 'string' ? value : JSON.stringify(value)
  const { status, text } = await send({ method: 'POST', url: `${server.url}${path}`, headers: admin(), body })
  if (status !== 201) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`)
  return text
}

/** Objects for patches to start from, and an account. */
async function prepare(): Promise<void> {
  await create('/api/v1/namespaces', { metadata: { name: 'hostile' } })
  await create('/api/v1/namespaces', { metadata: { name: 'innocent' } })
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGET_CRD)
  const data = Object.fromEntries(Array.from({ length: 55_000 }, (_, index) => [short(index), '']))
  await create('/api/v1/namespaces/hostile/configmaps', { metadata: { name: 'stored' }, data })
  await create('/api/v1/namespaces/innocent/configmaps', { metadata: { name: 'kept' }, data: { a: '1' } })
  // As many as can be stored together with their managed fields.
  const env = Array.from({ length: 14_000 }, (_, index) => ({ name: `E${index}`, value: 'x' }))
  const labels = { a: 'b' }
  await create('/apis/apps/v1/namespaces/hostile/deployments', {
    metadata: { name: 'stored' },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i', env }] } },
    },
  })
  const widget = {
    apiVersion: 'hostile.example.dev/v1',
    kind: 'Widgets',
    metadata: { name: 'stored' },
    any: { a: {} },
    // As many as can be stored together with their managed fields.
    items: items(17_000, 1),
  }
  await vi.waitFor(() => create('/apis/hostile.example.dev/v1/namespaces/hostile/widgets', widget), POLL)
  const rbac = { apiGroup: 'rbac.authorization.k8s.io' }
  await create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'almost-all' },
    rules: [
      {
        apiGroups: ['*'],
        resources: ['*'],
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
      },
    ],
  })
  await create('/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/rolebindings', {
    metadata: { name: 'attacker' },
    roleRef: { ...rbac, kind: 'ClusterRole', name: 'almost-all' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'hostile' }],
  })
  const token = await vi.waitFor(() => create('/api/v1/namespaces/hostile/serviceaccounts/default/token', '{}'), POLL)
  account = `Bearer ${(JSON.parse(token) as { status: { token: string } }).status.token}`
}

async function get(path: string): Promise<unknown> {
  return JSON.parse((await send({ method: 'GET', url: `${server.url}${path}`, headers: admin() })).text)
}

/** Every path of the embedded server that takes a body, with its verbs. */
async function routes(): Promise<{ readonly method: string; readonly path: string }[]> {
  const groups = (await get('/apis')) as { groups: { versions: { groupVersion: string }[] }[] }
  const versions = [
    '/api/v1',
    ...groups.groups.flatMap(({ versions }) => versions.map((v) => `/apis/${v.groupVersion}`)),
  ]
  const found: { method: string; path: string }[] = []
  for (const version of versions) {
    const { resources } = (await get(version)) as {
      resources: { name: string; namespaced: boolean; verbs: string[] }[]
    }
    for (const { name, namespaced, verbs } of resources) {
      const [plural = '', ...subresource] = name.split('/')
      const collection = `${version}${namespaced ? '/namespaces/hostile' : ''}/${plural}`
      const one = [`${collection}/stored`, ...subresource].join('/')
      if (verbs.includes('create')) found.push({ method: 'POST', path: subresource.length > 0 ? one : collection })
      for (const method of ['PUT', 'PATCH', 'DELETE']) found.push({ method, path: one })
    }
  }
  for (const path of ['/', '/livez', '/metrics', '/version', '/openapi/v3', '/api', '/apis/none/v1/x']) {
    for (const method of ['POST', 'PUT', 'DELETE']) found.push({ method, path })
  }
  return found
}

/** Objects that no request may change: those outside the attacked namespace that no controller touches. */
async function innocents(): Promise<string> {
  const paths = [
    '/api/v1/namespaces/innocent/configmaps',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/roles',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  ]
  const lists = await Promise.all(
    paths.map(async (path) => {
      const { text } = await send({ method: 'GET', url: `${server.url}${path}`, headers: admin() })
      const { items } = JSON.parse(text) as {
        items: { metadata: { name: string; uid: string; generation?: number } }[]
      }
      return items.map(({ metadata }) => `${path} ${metadata.name} ${metadata.uid} ${metadata.generation}`)
    }),
  )
  return lists.flat().join('\n')
}

beforeAll(async () => {
  server = await startServer()
  prober = startProber([`${server.url}/livez`, `${server.http}/healthz`])
  await prepare()
}, 120_000)

afterAll(async () => {
  await prober.stop()
  await server.stop()
})

const applications = '/apis/cloudnative.elide.dev/v1/namespaces/hostile/applications'

test('no known hostile request blocks the event loop for more than 1 s or ends the process', async () => {
  const before = await innocents()
  await server.ask('statistics')
  const tooLong: string[] = []
  const attack = async (name: string, request: () => Promise<Received>): Promise<void> => {
    const { status, cpu } = await leastWork(server, request)
    if (cpu > MAX_TURN_MS) tooLong.push(`${name}: ${Math.round(cpu)} ms of CPU`)
    if (status === 0) tooLong.push(`${name}: no response`)
    if (status === 500) tooLong.push(`${name}: status 500`)
  }
  for (const each of directedRequests()) {
    // Its body is made once.
    const request = { ...each }
    await attack(request.name, () => sendHostile(request, account))
    // The administrator may do what the account may not.
    const isOfCluster = !request.path.includes('/namespaces/')
    if (isOfCluster)
      await attack(`${request.name}, as the administrator`, () => sendHostile(request, `Bearer ${server.token}`))
  }
  for (const request of operatorRequests(applications))
    await attack(request.name, () => sendHostile(request, '', server.http))
  expect(tooLong).toEqual([])
  expect(await innocents()).toBe(before)
}, 600_000)

test(
  `no random request of the seed ${SEED} blocks, fills or ends the server, or stores what is refused`,
  async () => {
    const all = await routes()
    const random = seededRandom(SEED)
    const before = await innocents()
    const began = performance.now()
    const problems: string[] = []
    let sent = 0
    const attack = async (): Promise<void> => {
      while (sent < all.length || performance.now() - began < SECONDS * 1_000) {
        const number = sent++
        const route = all[number % all.length] ?? { method: 'POST', path: '/' }
        const credentials = ['', 'Bearer x', account, account, `Bearer ${server.token}`]
        const authorization = credentials[Math.floor(random.fraction() * credentials.length)] ?? ''
        const path = `${route.path}?dryRun=All&fieldManager=hostile`
        const name = `request ${number} of seed ${SEED}: ${route.method} ${path}`
        const { status } = await sendHostile({ name, ...route, path, ...randomBody(random) }, authorization)
        if (status === 0 || status === 500) problems.push(`${name}: ${status || 'no response'}`)
      }
    }
    const memory = (await server.ask('collect')).memory
    await Promise.all(Array.from({ length: CONCURRENCY }, attack))
    const after = await server.ask('collect')
    expect(problems).toEqual([])
    expect(after.isPolluted).toBe(false)
    expect(after.longest.cpu).toBeLessThan(MAX_TURN_MS)
    expect(after.memory).toBeLessThan(memory * MAX_GROWTH + NOISE_BYTES)
    expect(await innocents()).toBe(before)
  },
  (SECONDS + 300) * 1_000,
)

test('the probes of another process were answered all the time', async () => {
  const { longestWait } = await server.ask('statistics')
  const { probes, failures, longestGap, longestDelay } = await prober.report()
  expect(failures).toEqual([])
  expect(probes).toBeGreaterThan(50)
  // A probe takes several turns of both processes, and each measures how long it waits for a processor.
  expect(longestGap).toBeLessThan(2 * MAX_TURN_MS + 4 * (longestWait + longestDelay))
})
