import type { KubeObject } from '@tenure/kube'
import { TenureError, defineKind } from '@tenure/kube'
import { VirtualClock, seededRandom } from '@tenure/kube/testing'
import { beforeEach, expect, test } from 'vitest'
import { apply, requeueAfter } from '../actions/index.ts'
import { controller } from '../controller/index.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import { refuse } from '../testing/responses.ts'
import { defineOperator, type OperatorParts } from '../operator/index.ts'
import { allow, validating } from '../webhooks/index.ts'
import type { Component, ComponentDefinition, OperatorContext, Stage } from './component.ts'
import { runOperators } from './manager.ts'
import type { RunOperatorsOptions } from './options.ts'

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

interface Settings {
  /** Default: the identity. */
  readonly settings?: Readonly<Record<string, unknown>>
}

interface Run {
  /** The context of the first operator after its setup. */
  context(): OperatorContext | undefined
  stop(): void
  /** Resolves with undefined or with the error of `runOperators`. */
  readonly ended: Promise<unknown>
  readonly isEnded: () => boolean
}

/** Runs one operator with these parts; `elected` is its identity in the election. */
function start(
  parts: OperatorParts,
  elected?: string,
  { settings = { podName: elected }, ...options }: Partial<RunOperatorsOptions> & Settings = {},
): Run {
  const end = new AbortController()
  let context: OperatorContext | undefined
  const operator = defineOperator({
    name: 'pages',
    identity: { leaderLease: 'pages' },
    setup(given) {
      context = given
      return parts
    },
  })
  const running = runOperators(
    {
      operators: [{ operator, settings }],
      transport: server,
      clock,
      random: seededRandom(3),
      freeze: true,
      ...(elected === undefined && { leaderElection: false }),
      ...options,
    },
    end.signal,
  )
  let isEnded = false
  const ended = running
    .then(
      () => undefined,
      (error: unknown) => error,
    )
    .finally(() => (isEnded = true))
  return { context: () => context, stop: () => end.abort(), ended, isEnded: () => isEnded }
}

const whenLostStop = { leaderElection: { whenLost: 'stop' } } as const

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

const holder = (name = 'pages'): string | undefined =>
  server.peek(Lease, { namespace: 'default', name })?.spec?.holderIdentity

test('components start in the order serve, work, lead, and stop in reverse', async () => {
  const run = start(
    { components: [noting('lead', 'leader'), noting('work', 'worker'), noting('serve', 'server')] },
    'a',
  )
  await clock.advanceUntil(() => journal.length === 3)
  expect(journal).toEqual(['start server', 'start worker', 'start leader'])
  run.stop()
  expect(await stopped(run)).toBeUndefined()
  expect(journal.slice(3)).toEqual(['stop leader', 'stop worker', 'stop server'])
  expect(holder()).toBe('')
})

test('a manager runs controllers, shows them their own writes, and leaves nothing behind', async () => {
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const run = start({ controllers: [pages] })
  await clock.advanceUntil(() => server.objects(ConfigMap).length === 1)
  expect(server.objects(ConfigMap)[0]).toMatchObject({ metadata: { name: 'blog' }, data: { text: 'hello' } })
  run.stop()
  expect(await stopped(run)).toBeUndefined()
  expect(clock.pending).toBe(0)
  expect(server.openWatches).toBe(0)
})

test('a manager is ready only once the caches are filled, and not while a watch is down', async () => {
  let isRefusing = true
  server.intercept((request) => {
    if (isRefusing && request.plural === 'websites') return refuse(403, 'Forbidden', 'websites is forbidden')
    return undefined
  })
  const run = start({ controllers: [pages] })
  const problems = async (): Promise<string> => {
    const results = (await run.context()?.probes.check('ready')) ?? []
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

test('a manager is ready only once the API server trusts its webhooks, and stays ready after that', async () => {
  let isRefusing = true
  server.intercept((request) => {
    if (isRefusing && request.plural === 'validatingwebhookconfigurations' && request.verb === 'apply')
      return refuse(403, 'Forbidden', 'validatingwebhookconfigurations is forbidden')
    return undefined
  })
  const check = validating({
    name: 'check.example.dev',
    path: '/check',
    kind: Website,
    failurePolicy: 'Fail',
    validate: () => allow(),
  })
  const settings = { podName: 'a', webhookUrl: 'https://127.0.0.1:0', webhookPort: 0 }
  const run = start({ webhooks: [check] }, undefined, { settings })
  const failed = async (): Promise<readonly string[] | undefined> =>
    (await run.context()?.probes.check('ready'))?.filter(({ problem }) => problem !== undefined).map(({ name }) => name)
  await expect.poll(async () => (await clock.advance(1_000), await failed())).toEqual(['pages-webhooks'])
  await clock.advance(10_000)
  expect(await failed()).toEqual(['pages-webhooks'])
  isRefusing = false
  await expect.poll(async () => (await clock.advance(10_000), await failed())).toEqual([])
  run.stop()
  expect(await stopped(run)).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('a manager is ready although the server does not serve a kind that only an object names', async () => {
  const Gadget = defineKind({ apiVersion: 'example.dev/v1', kind: 'Gadget' })
  let refused = 0
  server.intercept((request) => {
    if (request.plural !== 'gadgets') return undefined
    refused++
    return refuse(404, 'NotFound')
  })
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const run = start({ controllers: [controller(Website, { ownedKinds: { of: () => [Gadget] }, plan: () => [] })] })
  await clock.advance(10_000)
  expect(refused).toBeGreaterThan(0)
  expect((await run.context()?.probes.check('ready'))?.filter(({ problem }) => problem !== undefined)).toEqual([])
  run.stop()
  await stopped(run)
})

test('a component that cannot start stops those that were started', async () => {
  const run = start({
    components: [
      noting('serve', 'server'),
      noting('work', 'broken', { start: () => Promise.reject(new TenureError('TENURE_TEST', 'no port')) }),
    ],
  })
  expect(await stopped(run)).toMatchObject({ code: 'TENURE_TEST' })
  expect(journal).toEqual(['start server', 'stop broken', 'stop server'])
})

test('the error of a component that cannot start to lead ends the manager', async () => {
  const failing = noting('lead', 'broken', { start: () => Promise.reject(new TenureError('TENURE_TEST', 'no')) })
  const run = start({ components: [failing] }, 'a')
  expect(await stopped(run)).toMatchObject({ code: 'TENURE_TEST' })
  expect(holder()).toBe('')
})

test('a stop during the start is a clean one', async () => {
  server.intercept((request) => (request.plural === 'websites' ? refuse(500, 'InternalError', 'no') : undefined))
  const run = start({ controllers: [pages] })
  await clock.advance(5_000)
  run.stop()
  expect(await stopped(run)).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('one process leads and the other waits with full caches, and follows at once after a clean stop', async () => {
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const first = start({ controllers: [pages] }, 'a')
  await clock.advanceUntil(() => holder() === 'a')
  const second = start({ controllers: [pages] }, 'b')
  await clock.advance(30_000)
  expect(holder()).toBe('a')
  const cached = second.context()?.informers.informer(Website).cache
  expect(cached?.size).toBe(1)
  const before = clock.monotonic()
  first.stop()
  await stopped(first)
  await clock.advanceUntil(() => holder() === 'b')
  expect(clock.monotonic() - before).toBeLessThanOrEqual(2_000)
  second.stop()
  await stopped(second)
})

/** The API server answers reads, but no lease can be renewed. */
function breakLeases(): { repair(): void } {
  let isBroken = true
  server.intercept((request) => (isBroken && request.plural === 'leases' ? 'drop' : undefined))
  return { repair: () => (isBroken = false) }
}

test('with whenLost stop, a lost lease stops everything at once', async () => {
  const parts = { components: [noting('lead', 'leader'), noting('serve', 'server')] }
  const run = start(parts, 'a', whenLostStop)
  await clock.advanceUntil(() => journal.length === 2)
  breakLeases()
  expect(await stopped(run)).toMatchObject({ code: 'TENURE_LEADERSHIP_LOST' })
  expect(journal).toEqual(['start server', 'start leader', 'stop leader', 'stop server'])
})

test('an operator goes on serving after a lost lease and leads again', async () => {
  const run = start({ components: [noting('lead', 'leader'), noting('serve', 'server')] }, 'a')
  await clock.advanceUntil(() => journal.length === 2)
  const leases = breakLeases()
  await clock.advanceUntil(() => journal.includes('stop leader'))
  leases.repair()
  await clock.advanceUntil(() => journal.length === 4)
  expect(journal).toEqual(['start server', 'start leader', 'stop leader', 'start leader'])
  run.stop()
  expect(await stopped(run)).toBeUndefined()
})

test('no write of a controller is sent after the lease ran out', async () => {
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const restless = controller(Website, {
    owns: [ConfigMap],
    plan: ({ now }) => [
      apply(ConfigMap, { metadata: { name: 'blog' }, data: { text: String(Math.floor(now / 100)) } }),
      requeueAfter(100),
    ],
  })
  const applies = (): number => server.requests.filter(({ verb }) => verb === 'apply').length
  const run = start({ controllers: [restless] }, 'a', whenLostStop)
  await clock.advanceUntil(() => applies() > 3)
  breakLeases()
  await clock.advanceUntil(run.isEnded)
  const before = applies()
  await clock.advance(60_000)
  expect(applies()).toBe(before)
  expect(await run.ended).toMatchObject({ code: 'TENURE_LEADERSHIP_LOST' })
})

test('a component that leads has a fenced client, the others have not', async () => {
  const contexts: Partial<Record<Stage, OperatorContext>> = {}
  const keep = (stage: Stage): ComponentDefinition => ({
    stage,
    create(context) {
      contexts[stage] = context
      return { name: stage, start: async () => undefined, stop: async () => undefined }
    },
  })
  const run = start({ components: [keep('serve'), keep('lead')] }, 'a')
  await clock.advanceUntil(() => contexts.lead !== undefined)
  run.stop()
  await stopped(run)
  const object: ConfigMap = { metadata: { namespace: 'default', name: 'late' } }
  await expect(contexts.lead?.api.create(ConfigMap, object)).rejects.toMatchObject({
    code: 'TENURE_ELECTION_NOT_LEADER',
  })
  await expect(contexts.serve?.api.create(ConfigMap, object)).resolves.toMatchObject({ metadata: { name: 'late' } })
})

test('each operator of a process has its own field manager, reporter and Lease', async () => {
  server.seed(Website, { metadata: { namespace: 'default', name: 'blog' }, spec: { text: 'hello' } })
  const contexts: OperatorContext[] = []
  const named = (name: string) =>
    defineOperator({
      name,
      setup(context) {
        contexts.push(context)
        return { controllers: [{ ...pages, name }] }
      },
    })
  const end = new AbortController()
  const options = { transport: server, clock, random: seededRandom(3) }
  const ended = runOperators({ operators: [named('one'), named('two')], ...options }, end.signal)
  await clock.advanceUntil(() => Boolean(holder('one-leader')) && Boolean(holder('two-leader')))
  await clock.advanceUntil(() => server.objects(ConfigMap)[0]?.metadata.managedFields?.length === 2)
  expect(contexts.map(({ identity }) => identity.name)).toEqual(['one', 'two'])
  expect(holder('one-leader')).toBe(holder('two-leader'))
  const managers = server.objects(ConfigMap)[0]?.metadata.managedFields?.map(({ manager }) => manager)
  expect(managers?.toSorted()).toEqual(['one', 'two'])
  expect(contexts.every((context) => context.isLeader())).toBe(true)
  end.abort()
  await clock.advanceUntil(() => holder('one-leader') === '' && holder('two-leader') === '')
  await clock.advance(60_000)
  await ended
})

test('a server gets the parts of all operators before anything is started', async () => {
  const end = new AbortController()
  const given: string[] = []
  const ended = runOperators(
    {
      operators: ['one', 'two'].map((name) => defineOperator({ name, setup: () => ({ components: [] }) })),
      transport: server,
      clock,
      leaderElection: false,
      servers: [
        {
          create: (operators) => ({
            name: 'server',
            start: async () => void given.push(...operators.map(({ operator }) => operator.name)),
            stop: async () => undefined,
          }),
        },
      ],
    },
    end.signal,
  )
  await clock.advanceUntil(() => given.length > 0)
  expect(given).toEqual(['one', 'two'])
  end.abort()
  await clock.advance(60_000)
  await ended
})

test('an operator without settings runs with the defaults of its table', async () => {
  const end = new AbortController()
  let size: number | undefined
  const operator = defineOperator({
    name: 'sized',
    config: { size: { type: 'integer', default: 3, meaning: 'How large.' } },
    setup({ settings }) {
      size = settings.size
      return {}
    },
  })
  const ended = runOperators({ operators: [operator], transport: server, clock, leaderElection: false }, end.signal)
  await clock.advanceUntil(() => size !== undefined)
  expect(size).toBe(3)
  end.abort()
  await clock.advance(60_000)
  await ended
})
