import type { KubeObject } from '@tenure/kube'
import { TenureError, defineKind } from '@tenure/kube'
import { VirtualClock, seededRandom } from '@tenure/kube/testing'
import { beforeEach, expect, it } from 'vitest'
import { apply, requeueAfter } from '../actions/index.ts'
import { controller } from '../controller/index.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import { refuse } from '../testing/responses.ts'
import type { Component, ComponentDefinition, ManagerContext, Stage } from './component.ts'
import { manager } from './manager.ts'
import type { Manager } from './manager.ts'
import type { LeaderElectionSettings, ManagerOptions } from './options.ts'

interface Website extends KubeObject {
  readonly spec?: { readonly text: string }
}
interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}
const Website = defineKind<Website>({ apiVersion: 'example.dev/v1', kind: 'Website' })
const ConfigMap = defineKind<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap' })
const Lease = defineKind<KubeObject & { spec?: { holderIdentity?: string } }>({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
})

const pages = controller(Website, {
  owns: [ConfigMap],
  plan: ({ object }) => [
    apply(ConfigMap, { metadata: { name: object.metadata.name }, data: { text: object.spec?.text ?? '' } }),
  ],
})

let clock: VirtualClock
let server: MemoryApi
let journal: string[]

beforeEach(() => {
  clock = new VirtualClock()
  server = new MemoryApi({ clock })
  journal = []
})

interface Run {
  readonly manager: Manager
  stop(): void
  /** Resolves with nothing, or with what `run` rejected with. */
  readonly ended: Promise<unknown>
  readonly isEnded: () => boolean
}

function start(options: ManagerOptions): Run {
  const end = new AbortController()
  const subject = manager({ transport: server, clock, random: seededRandom(3), freeze: true, ...options })
  let isEnded = false
  const ended = subject
    .run(end.signal)
    .then(
      () => undefined,
      (error: unknown) => error,
    )
    .finally(() => (isEnded = true))
  return { manager: subject, stop: () => end.abort(), ended, isEnded: () => isEnded }
}

function noting(stage: Stage, name: string, more: Partial<Component> = {}): ComponentDefinition {
  const definition = {
    stage,
    create: (): Component => ({
      name,
      start: async () => void journal.push(`start ${name}`),
      stop: async () => void journal.push(`stop ${name}`),
      ...more,
    }),
  }
  return definition
}

async function stopped(run: Run): Promise<unknown> {
  await clock.advanceUntil(run.isEnded)
  return run.ended
}

const election = (identity: string): LeaderElectionSettings => ({ name: 'pages', identity })

const holder = (): string | undefined =>
  server.peek(Lease, { namespace: 'default', name: 'pages' })?.spec?.holderIdentity

it('starts what serves, then what works, then what leads, and stops in reverse', async () => {
  const run = start({
    components: [noting('lead', 'leader'), noting('work', 'worker'), noting('serve', 'server')],
    leaderElection: election('a'),
  })
  await clock.advanceUntil(() => journal.length === 3)
  expect(journal).toEqual(['start server', 'start worker', 'start leader'])
  run.stop()
  expect(await stopped(run)).toBeUndefined()
  expect(journal.slice(3)).toEqual(['stop leader', 'stop worker', 'stop server'])
  expect(holder()).toBe('')
})

it('runs controllers, shows them their own writes, and leaves nothing behind', async () => {
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const run = start({ controllers: [pages] })
  await clock.advanceUntil(() => server.objects(ConfigMap).length === 1)
  expect(server.objects(ConfigMap)[0]).toMatchObject({ metadata: { name: 'blog' }, data: { text: 'hello' } })
  run.stop()
  expect(await stopped(run)).toBeUndefined()
  expect(clock.pending).toBe(0)
  expect(server.openWatches).toBe(0)
})

it('is ready only once caches are full, and not while a watch is down', async () => {
  let isRefusing = true
  server.intercept((request) => {
    if (isRefusing && request.plural === 'websites') return refuse(403, 'Forbidden', 'websites is forbidden')
    return undefined
  })
  const run = start({ controllers: [pages] })
  const problems = async (): Promise<string> => {
    const results = (await run.manager.context?.probes.check('ready')) ?? []
    return results.map(({ problem }) => problem ?? '').join('')
  }
  await clock.advance(2_000)
  expect(await problems()).toContain('Not allowed to watch websites')
  isRefusing = false
  await clock.advance(60_000)
  expect(await problems()).toBe('')
  run.stop()
  await stopped(run)
})

it('stops what was started when something can not be, and says why', async () => {
  const run = start({
    components: [
      noting('serve', 'server'),
      noting('work', 'broken', { start: () => Promise.reject(new TenureError('TENURE_TEST', 'no port')) }),
    ],
  })
  expect(await stopped(run)).toMatchObject({ code: 'TENURE_TEST' })
  expect(journal).toEqual(['start server', 'stop broken', 'stop server'])
})

it('ends with the error of a component that can not start to lead', async () => {
  const failing = noting('lead', 'broken', { start: () => Promise.reject(new TenureError('TENURE_TEST', 'no')) })
  const run = start({ components: [failing], leaderElection: election('a') })
  expect(await stopped(run)).toMatchObject({ code: 'TENURE_TEST' })
  expect(holder()).toBe('')
})

it('a stop while it starts is a clean one', async () => {
  server.intercept((request) => (request.plural === 'websites' ? refuse(500, 'InternalError', 'no') : undefined))
  const run = start({ controllers: [pages] })
  await clock.advance(5_000)
  run.stop()
  expect(await stopped(run)).toBeUndefined()
  expect(clock.pending).toBe(0)
})

it('one leads and the other waits with full caches, and follows at once after a clean stop', async () => {
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const first = start({ controllers: [pages], leaderElection: election('a') })
  await clock.advanceUntil(() => holder() === 'a')
  const second = start({ controllers: [pages], leaderElection: election('b') })
  await clock.advance(30_000)
  expect(holder()).toBe('a')
  const cached = second.manager.context?.informers.informer(Website).cache
  expect(cached?.size).toBe(1)
  const before = clock.monotonic()
  first.stop()
  await stopped(first)
  await clock.advanceUntil(() => holder() === 'b')
  expect(clock.monotonic() - before).toBeLessThanOrEqual(2_000)
  second.stop()
  await stopped(second)
})

/** The API answers reads but no lease can be renewed. */
function breakLeases(): { mend(): void } {
  let isBroken = true
  server.intercept((request) => (isBroken && request.plural === 'leases' ? 'drop' : undefined))
  return { mend: () => (isBroken = false) }
}

it('stops everything at once when the lease is lost, and rejects', async () => {
  const run = start({
    components: [noting('lead', 'leader'), noting('serve', 'server')],
    leaderElection: election('a'),
  })
  await clock.advanceUntil(() => journal.length === 2)
  breakLeases()
  expect(await stopped(run)).toMatchObject({ code: 'TENURE_LEADERSHIP_LOST' })
  expect(journal).toEqual(['start server', 'start leader', 'stop leader', 'stop server'])
})

it('told to campaign, goes on serving after a lost lease and leads again', async () => {
  const run = start({
    components: [noting('lead', 'leader'), noting('serve', 'server')],
    leaderElection: { name: 'pages', identity: 'a', whenLost: 'campaign' },
  })
  await clock.advanceUntil(() => journal.length === 2)
  const leases = breakLeases()
  await clock.advanceUntil(() => journal.includes('stop leader'))
  leases.mend()
  await clock.advanceUntil(() => journal.length === 4)
  expect(journal).toEqual(['start server', 'start leader', 'stop leader', 'start leader'])
  run.stop()
  expect(await stopped(run)).toBeUndefined()
})

it('sends no write of a controller after the lease ran out, though nobody has told it yet', async () => {
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const restless = controller(Website, {
    owns: [ConfigMap],
    plan: ({ now }) => [
      apply(ConfigMap, { metadata: { name: 'blog' }, data: { text: String(Math.floor(now / 100)) } }),
      requeueAfter(100),
    ],
  })
  const applies = (): number => server.requests.filter(({ verb }) => verb === 'apply').length
  const run = start({ controllers: [restless], leaderElection: election('a') })
  await clock.advanceUntil(() => applies() > 3)
  breakLeases()
  await clock.advanceUntil(run.isEnded)
  const before = applies()
  await clock.advance(60_000)
  expect(applies()).toBe(before)
  expect(await run.ended).toMatchObject({ code: 'TENURE_LEADERSHIP_LOST' })
})

it('gives what leads a client that is fenced, and the others one that is not', async () => {
  const contexts: Partial<Record<Stage, ManagerContext>> = {}
  const keep = (stage: Stage): ComponentDefinition => ({
    stage,
    create(context) {
      contexts[stage] = context
      return { name: stage, start: async () => undefined, stop: async () => undefined }
    },
  })
  const run = start({ components: [keep('serve'), keep('lead')], leaderElection: election('a') })
  await clock.advanceUntil(() => contexts.lead !== undefined)
  run.stop()
  await stopped(run)
  const object: ConfigMap = { metadata: { namespace: 'default', name: 'late' } }
  await expect(contexts.lead?.api.create(ConfigMap, object)).rejects.toMatchObject({
    code: 'TENURE_ELECTION_NOT_LEADER',
  })
  await expect(contexts.serve?.api.create(ConfigMap, object)).resolves.toMatchObject({ metadata: { name: 'late' } })
})

it('refuses to run twice at once', async () => {
  const run = start({})
  await clock.advance(10)
  await expect(run.manager.run(new AbortController().signal)).rejects.toMatchObject({ code: 'TENURE_MANAGER_RUNNING' })
  run.stop()
  expect(await stopped(run)).toBeUndefined()
})
