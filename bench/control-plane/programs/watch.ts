import { readFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import { mergePatch } from '@tenure/kube'
import { ConfigMap, connect } from '../../programs/cluster.ts'
import { Stopwatch } from '../../programs/stopwatch.ts'
import type { Flags } from '../../programs/usage.ts'

/** The limit of kube-apiserver per connection. */
const WATCHES_PER_CONNECTION = 100
/** Enough objects that a write never waits for the previous write of the same object. */
const OBJECTS = 20
const NAMESPACE = 'default'
const LABELS = { bench: 'watched' }
const TURN = Buffer.from('"turn":"')
const REVISION = Buffer.from('"resourceVersion":"')
/**
 * Flow-control window in bytes. Node's default of 64 KB per connection is less than one event of a hundred watches;
 * Go's clients allow more.
 */
const WINDOW = 64 * 1024 * 1024
const DRAIN_LIMIT_MS = 30_000
/** Seconds of warm-up on the same stream, so that code is compiled on both sides. */
const WARM_UP_SECONDS = 1

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string } }]
  readonly users: readonly [
    { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
  ]
}

interface Seen {
  /** When each change was sent. */
  readonly sent: number[]
  /** Number of changes that belong to the warm-up. */
  readonly warmUp: number
  readonly early: number[]
  readonly delays: number[]
  outOfOrder: number
}

/**
 * Watches objects that change at a steady rate, and checks that each watch sees every change in order, and how late.
 */
export async function watch(flag: Flags): Promise<object> {
  const watchers = Number(flag('watchers'))
  const perSecond = Number(flag('per-second'))
  const warmUp = perSecond * WARM_UP_SECONDS
  const events = warmUp + perSecond * Number(flag('seconds'))
  const kubeconfig = JSON.parse(readFileSync(flag('kubeconfig'), 'utf8')) as Kubeconfig
  const { client, transport } = await connect(flag('kubeconfig'))
  let from = ''
  for (let index = 0; index < OBJECTS; index++) {
    const object = { metadata: { ...refOf(index), labels: LABELS }, data: { turn: '' } }
    from = (await client.apply(ConfigMap, object, { force: true })).metadata.resourceVersion
  }
  const sessions = Array.from({ length: Math.ceil(watchers / WATCHES_PER_CONNECTION) }, () => openSession(kubeconfig))
  const watch: Seen = { sent: [], warmUp, early: [], delays: [], outOfOrder: 0 }
  const each = sessions.flatMap((over) => Array.from({ length: WATCHES_PER_CONNECTION }, () => over))
  await Promise.all(each.slice(0, watchers).map((over) => follow(over, from, watch)))
  const stopwatch = new Stopwatch()
  const writes: Promise<unknown>[] = []
  const began = performance.now()
  while (writes.length < events) {
    const due = Math.min(events, Math.floor(((performance.now() - began) / 1000) * perSecond) + 1)
    while (writes.length < due) {
      const turn = writes.length
      // Concurrent writes of one object could be applied in either order.
      writes.push(
        (writes[turn - OBJECTS] ?? Promise.resolve()).then(() => {
          watch.sent[turn] = performance.now()
          return client.patch(ConfigMap, refOf(turn), mergePatch({ data: { turn: String(turn) } }))
        }),
      )
    }
    await pause(2)
  }
  await Promise.all(writes)
  const limit = performance.now() + DRAIN_LIMIT_MS
  const count = (): number => watch.early.length + watch.delays.length
  while (count() < events * watchers && performance.now() < limit) await pause(10)
  const { cpuMs, wallMs } = stopwatch.perItem(1)
  for (const session of sessions) session.destroy()
  await transport.close()
  return {
    missing: events * watchers - count(),
    outOfOrder: watch.outOfOrder,
    medianMs: quantile(watch.delays, 0.5),
    p99Ms: quantile(watch.delays, 0.99),
    firstP99Ms: quantile(watch.early, 0.99),
    wallMs,
    generatorLoad: cpuMs / wallMs,
  }
}

function quantile(values: readonly number[], share: number): number {
  return Float64Array.from(values).toSorted()[Math.floor(values.length * share)] ?? Number.NaN
}

function refOf(turn: number): { readonly namespace: string; readonly name: string } {
  return { namespace: NAMESPACE, name: `watched-${turn % OBJECTS}` }
}

function openSession(kubeconfig: Kubeconfig): ClientHttp2Session {
  const { user } = kubeconfig.users[0]
  const session = connectHttp2(kubeconfig.clusters[0].cluster.server, {
    cert: Buffer.from(user['client-certificate-data'], 'base64'),
    key: Buffer.from(user['client-key-data'], 'base64'),
    rejectUnauthorized: false,
    settings: { initialWindowSize: WINDOW },
  })
  session.once('connect', () => session.setLocalWindowSize(WINDOW))
  return session
}

/** Opens one watch; resolves when the response begins. */
function follow(over: ClientHttp2Session, resourceVersion: string, seen: Seen): Promise<void> {
  const query = `watch=true&resourceVersion=${resourceVersion}&labelSelector=bench%3Dwatched`
  const stream = over.request({ ':path': `/api/v1/namespaces/${NAMESPACE}/configmaps?${query}` })
  let newest = 0
  let rest: Buffer | undefined
  stream.on('data', (chunk: Buffer) => {
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk
    let at = 0
    for (let end = bytes.indexOf(10, at); end >= 0; end = bytes.indexOf(10, at)) {
      const turn = numberAfter(bytes, TURN, at)
      const delay = performance.now() - (seen.sent[turn] ?? Number.NaN)
      if (turn < seen.warmUp) seen.early.push(delay)
      else seen.delays.push(delay)
      const revision = numberAfter(bytes, REVISION, at)
      if (!(revision > newest)) seen.outOfOrder++
      newest = revision
      at = end + 1
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined
  })
  return new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.on('response', (headers) => {
      if (headers[':status'] === 200) resolve()
      else reject(new Error(`A watch returned ${headers[':status']}`))
    })
  })
}

/** Parses the quoted number after the first `mark` from `start` on. */
function numberAfter(bytes: Buffer, mark: Buffer, start: number): number {
  const at = bytes.indexOf(mark, start) + mark.length
  return Number(bytes.toString('latin1', at, bytes.indexOf(34, at)))
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
