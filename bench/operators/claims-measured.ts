import { readFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import type { Client } from '@tenure/kube'
import { defineKind } from '@tenure/kube'
import { Namespace, Secret } from '@tenure/kube/kinds'
import { poolTemplate } from '../../packages/claims/src/template/pool-template.ts'
import { inParallel } from '../programs/cluster.ts'
import { BareMembers } from './bare-members.ts'
import { prepareBareMembers } from './bare-server.ts'
import { ClaimsClient } from './claims-client.ts'
import { isReady, Pod } from './claims-loop.ts'
import { DEFAULT_TEMPLATE, DEFAULT_VALUES } from './claims-operator.ts'
import type { ClaimsOperator } from './claims-operator.ts'
import { pause, quantile } from './operator-process.ts'

const WARM_UP = 100
const SINGLE_CLAIMS = 500
/** Milliseconds between two requests one at a time, on average: the work that a claim causes disturbs both sides. */
const SINGLE_PAUSE_MS = 25
/** Milliseconds in which the cluster deletes the resources of a released claim, which must not slow the next one. */
const AFTER_RELEASE_MS = 100
const LAZY_CLAIMS = 100
const COLD_CLAIMS = 50
const COUNTED_CLAIMS = 100
/** The pool is refilled in time, so that no claim is handed out before it is ready. */
const COUNTED_PAUSE_MS = 100
const BURST_ROUNDS = 3
const THROUGHPUT_ROUND = 50
const THROUGHPUT_CALLERS = 16
const WARM_UP_ROUNDS = 40
const RENDERINGS = 2_000

const Event = defineKind({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })

export interface Target {
  readonly operator: ClaimsOperator
  readonly client: Client
  readonly namespace: string
}

export async function newNamespace(client: Client): Promise<string> {
  const { metadata } = await client.create(Namespace, { metadata: { generateName: 'bench-claims-' } })
  return metadata.name
}

/** Alternates a claim, a bare conditional write, and such a write behind a plain HTTP server. Returns milliseconds. */
export async function oneAtATime(
  { operator, client, namespace }: Target,
  { bare: barePort, guarded: guardedPort }: BarePorts,
  whenFull: () => Promise<void>,
): Promise<HandOutFigures> {
  const count = WARM_UP + SINGLE_CLAIMS
  const members = await BareMembers.create(client, { namespace, prefix: 'single', count })
  await prepareBareMembers(barePort, 'single-served', count)
  await prepareBareMembers(guardedPort, 'single-guarded', count)
  const bareCaller = new ClaimsClient(barePort)
  const guardedCaller = new ClaimsClient(guardedPort)
  const random = uniform()
  let claims: number[] = []
  let bare: number[] = []
  let bareHttp: number[] = []
  let guarded: number[] = []
  for (let index = 0; index < count; index++) {
    if (index === WARM_UP) {
      claims = []
      bare = []
      bareHttp = []
      guarded = []
      await whenFull()
    }
    let id = ''
    claims.push(await timed(async () => ({ id } = await takeWarm(operator.client))))
    await pause(2 * SINGLE_PAUSE_MS * random())
    bare.push(await timed(() => members.handOut(index)))
    await pause(2 * SINGLE_PAUSE_MS * random())
    bareHttp.push(await timed(() => takeWarm(bareCaller)))
    await pause(2 * SINGLE_PAUSE_MS * random())
    guarded.push(await timed(() => takeWarm(guardedCaller)))
    await operator.client.release(id)
    await pause(AFTER_RELEASE_MS + 2 * SINGLE_PAUSE_MS * random())
  }
  bareCaller.close()
  guardedCaller.close()
  return { claims, bare, bareHttp, guarded }
}

export async function takeWarm(client: ClaimsClient): Promise<{ readonly id: string }> {
  const taken = await client.take()
  if (!taken.preProvisioned) throw new Error('The pool was empty')
  return taken
}

/** Alternates a claim with values and a lazy object, and a bare create of such an object. */
export async function lazyClaims({ operator, client, namespace }: Target): Promise<{
  readonly claims: readonly number[]
  readonly creates: readonly number[]
}> {
  const claims: number[] = []
  const creates: number[] = []
  for (let index = 0; index < LAZY_CLAIMS; index++) {
    let id = ''
    const user = `user-${index}`
    claims.push(await timed(async () => ({ id } = await operator.client.take({ pool: 'lazy', values: { user } }))))
    await pause(SINGLE_PAUSE_MS)
    const secret = { metadata: { name: `lazy-${index}`, namespace }, stringData: { user } }
    creates.push(await timed(() => client.create(Secret, secret)))
    await operator.client.release(id)
    await pause(SINGLE_PAUSE_MS)
  }
  return { claims, creates }
}

/** Milliseconds from the watch event that shows the pod of a cold claim Ready to the response. */
export async function coldClaims({ operator, client, namespace }: Target): Promise<readonly number[]> {
  const readyAt = new Map<string, number>()
  const ended = new AbortController()
  const { resourceVersion } = (await client.list(Pod, { namespace })).metadata
  const watching = (async () => {
    for await (const events of client.watch(Pod, { namespace, resourceVersion, signal: ended.signal })) {
      const now = performance.now()
      for (const event of events) {
        if (event.type === 'BOOKMARK') continue
        const { name } = event.object.metadata
        if (isReady(event.object) && !readyAt.has(name)) readyAt.set(name, now)
      }
    }
  })().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error
  })
  const late: number[] = []
  for (let index = 0; index < COLD_CLAIMS; index++) {
    const { id } = await operator.client.take({ pool: 'cold' })
    const now = performance.now()
    // The operator's own watch may be ahead of this one.
    late.push(Math.max(0, now - (readyAt.get(`claim-${id}`) ?? now)))
    await operator.client.release(id)
    await pause(SINGLE_PAUSE_MS)
  }
  ended.abort()
  await watching
  return late
}

/** Counts the writes of claims from their creation to their release. A claim of the default template has two children. */
export async function writesPerClaim(
  { operator, client, namespace }: Target,
  whenFull: () => Promise<void>,
): Promise<{ readonly writes: number; readonly deletes: number; readonly events: number }> {
  const eventCount = async (): Promise<number> => {
    const { items } = await client.list(Event, { namespace })
    return items.filter((event) => 'reportingController' in event && event.reportingController === 'claim-controller')
      .length
  }
  const count = async (): Promise<Readonly<Record<'creates' | 'patches' | 'deletes' | 'events', number>>> => {
    await whenFull()
    // Events are written slowly; the last are written when nothing new has come for two seconds.
    for (let before = -1; ;) {
      const events = await eventCount()
      if (events === before) break
      before = events
      await pause(2_000)
    }
    const requests = await operator.requests()
    const of = (method: string): number => requests.get(method) ?? 0
    return { creates: of('POST'), patches: of('PATCH'), deletes: of('DELETE'), events: await eventCount() }
  }
  const before = await count()
  for (let index = 0; index < COUNTED_CLAIMS; index++) {
    const { id } = await takeWarm(operator.client)
    await operator.client.release(id)
    await pause(COUNTED_PAUSE_MS)
  }
  const after = await count()
  const each = (name: keyof typeof before): number => (after[name] - before[name]) / COUNTED_CLAIMS
  return {
    writes: each('creates') - 2 - each('events') + each('patches'),
    deletes: each('deletes'),
    events: each('events'),
  }
}

/** Alternates `count` claims at once and as many bare writes. */
export async function burst(
  { operator, client, namespace }: Target,
  count: number,
  whenFull: () => Promise<void>,
): Promise<{ readonly claims: readonly number[]; readonly bare: readonly number[] }> {
  const claims: number[] = []
  const bare: number[] = []
  // The first round warms both sides up.
  for (let round = 0; round <= BURST_ROUNDS; round++) {
    const members = await BareMembers.create(client, { namespace, prefix: `burst-${round}`, count })
    await pause(1_000)
    bare.push(await members.handOutAll(count))
    await pause(1_000)
    const ids: string[] = []
    claims.push(await timed(() => inParallel(count, count, async () => ids.push((await operator.client.take()).id))))
    await inParallel(ids.length, THROUGHPUT_CALLERS, (index) => operator.client.release(ids[index] ?? ''))
    await whenFull()
    await pause(5_000)
  }
  return { claims: claims.slice(1), bare: bare.slice(1) }
}

/** Milliseconds, or hand-outs per second. */
export interface HandOutFigures {
  readonly claims: readonly number[]
  /** Conditional writes by the benchmark itself. */
  readonly bare: readonly number[]
  /** The same writes, each for a request to a plain HTTP server in another process. */
  readonly bareHttp: readonly number[]
  /** The same, behind the HTTP server of operators. */
  readonly guarded: readonly number[]
}

/** The ports of servers that hand out bare members. */
export interface BarePorts {
  readonly bare: number
  readonly guarded: number
}

/** The first rounds warm all sides up. */
const warm = (rates: readonly number[]): readonly number[] => rates.slice(WARM_UP_ROUNDS)

const perSecond = (ms: number): number => (THROUGHPUT_ROUND / ms) * 1_000

/** Alternates rounds of claims, of bare writes, and of these for HTTP requests, 16 at a time. */
export async function throughput(
  { operator, client, namespace }: Target,
  { pool, ports }: { readonly pool: number; readonly ports: BarePorts },
): Promise<HandOutFigures> {
  const claims: number[] = []
  const bare: number[] = []
  const bareHttp: number[] = []
  const guarded: number[] = []
  const bareCaller = new ClaimsClient(ports.bare)
  const guardedCaller = new ClaimsClient(ports.guarded)
  for (let round = 0; round < pool / THROUGHPUT_ROUND; round++) {
    const members = await BareMembers.create(client, { namespace, prefix: `bare-${round}`, count: THROUGHPUT_ROUND })
    bare.push(perSecond(await members.handOutAll(THROUGHPUT_CALLERS)))
    await prepareBareMembers(ports.bare, `served-${round}`, THROUGHPUT_ROUND)
    await prepareBareMembers(ports.guarded, `guarded-${round}`, THROUGHPUT_ROUND)
    for (const [caller, rates] of [
      [bareCaller, bareHttp],
      [guardedCaller, guarded],
      [operator.client, claims],
    ] as const)
      rates.push(perSecond(await timed(() => inParallel(THROUGHPUT_ROUND, THROUGHPUT_CALLERS, () => takeWarm(caller)))))
  }
  bareCaller.close()
  guardedCaller.close()
  return { claims: warm(claims), bare: warm(bare), bareHttp: warm(bareHttp), guarded: warm(guarded) }
}

/** Milliseconds of one rendering of the default template, from its text to objects. */
export function renderingMs(): number {
  const template = poolTemplate({
    templateText: readFileSync(DEFAULT_TEMPLATE, 'utf8'),
    valuesText: readFileSync(DEFAULT_VALUES, 'utf8'),
    namespace: 'default',
    now: () => Date.now(),
    randomBytes: (count) => randomBytes(count),
  })
  const took: number[] = []
  for (let index = 0; index < RENDERINGS; index++) {
    const began = performance.now()
    template.render({ id: `id-${index}` })
    took.push(performance.now() - began)
  }
  return quantile(took, 0.5)
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function uniform(): () => number {
  let state = 15
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
