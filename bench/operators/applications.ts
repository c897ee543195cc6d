import { request as httpRequest, Agent } from 'node:http'
import { Application } from '@tenure/applications'
import type { Client, KubeObject } from '@tenure/kube'
import { startCluster } from '../../test/cluster/cluster.ts'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { connect, inParallel } from '../programs/cluster.ts'
import { OPERATOR_OPTIONS } from '../measurements.ts'
import type { Row } from '../rows.ts'
import {
  application,
  APPLICATIONS,
  AT_ONCE,
  convergeApplications,
  convergeByHand,
  convergeDeployments,
  newNamespace,
  removeFinalizers,
  removeNamespace,
} from './converge.ts'
import { OperatorProcess, pause, quantile, writesOf } from './operator-process.ts'
import { SseReaders } from './sse-readers.ts'

const HTTP_CREATES = 300
const READERS = 500
const CHANGES = 200

export interface OperatorContext {
  readonly kubeconfig: string
  readonly say: (text: string) => void
}

/** kube-controller-manager with its default rate limits, which a burst of Deployments has to wait for. */
const DEFAULT_LIMITS = { durable: true, controllerManagerArgs: ['--kube-api-qps=20', '--kube-api-burst=30'] }

/** Measures the Applications operator as a process on a real cluster, next to the same work without it. */
export async function applicationRows({ kubeconfig, say }: OperatorContext): Promise<readonly Row[]> {
  const { client, transport } = await connect(kubeconfig)
  const { operator, port, url } = await startOperator(kubeconfig)
  try {
    const bare = await convergeDeployments(client)
    say(`  ${APPLICATIONS} Deployments available after ${Math.round(bare.took)} ms`)
    await removeNamespace(client, bare.namespace)
    const before = await writesOf(`${url}/metrics`)
    const ours = await convergeApplications(client)
    const writes = ((await writesOf(`${url}/metrics`)) - before) / APPLICATIONS
    say(`  ${APPLICATIONS} Applications Running after ${Math.round(ours.took)} ms`)
    await removeNamespace(client, ours.namespace)
    const creates = await compareCreates(client, url)
    say('  HTTP creates measured')
    const late = await readersBehind(client, port)
    await operator.stop()
    const byHand = await convergeByHand(client)
    say(`  ${APPLICATIONS} Applications by hand after ${Math.round(byHand.took)} ms`)
    await removeFinalizers(client, byHand.namespace)
    await removeNamespace(client, byHand.namespace)
    return [
      runningRow('1,000 Applications Running, all CPUs busy', ours.took, bare.took),
      row('… the same writes from a client, no operator', 'ms', byHand.took, bare.took, undefined),
      row('API writes per Application', 'writes', writes, undefined, { on: 'value', is: 'at most', limit: 5 }),
      row('HTTP create p50', 'ms', creates.http, creates.bare, { on: 'ratio', is: 'at most', limit: 1.3 }),
      row('500 SSE readers behind the watch, p99', 'ms', late, undefined, { on: 'value', is: 'at most', limit: 100 }),
    ]
  } finally {
    await operator.stop()
    await transport.close()
  }
}

/** Measures the same on separate clusters, because deleting the objects would take longer than the measurement. */
export async function rateLimitedApplicationRows({ say }: OperatorContext): Promise<readonly Row[]> {
  const bare = await onCluster(({ client }) => convergeDeployments(client))
  say(`  ${APPLICATIONS} Deployments available after ${Math.round(bare.took)} ms`)
  const ours = await onCluster(async ({ client, kubeconfig }) => {
    const { operator } = await startOperator(kubeconfig)
    try {
      return await convergeApplications(client)
    } finally {
      await operator.stop()
    }
  })
  say(`  ${APPLICATIONS} Applications Running after ${Math.round(ours.took)} ms`)
  return [runningRow('1,000 Applications Running, controller manager with default limits', ours.took, bare.took)]
}

async function onCluster<R>(
  work: (cluster: { readonly client: Client; readonly kubeconfig: string }) => Promise<R>,
): Promise<R> {
  const cluster = await startCluster(DEFAULT_LIMITS)
  try {
    const { client, transport } = await connect(cluster.kubeconfig)
    try {
      return await work({ client, kubeconfig: cluster.kubeconfig })
    } finally {
      await transport.close()
    }
  } finally {
    await cluster.stop()
  }
}

/** Starts the operator and waits until it is ready and leads. */
async function startOperator(
  kubeconfig: string,
): Promise<{ readonly operator: OperatorProcess; readonly port: number; readonly url: string }> {
  const [port = 0] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const environment = { KUBECONFIG: kubeconfig, PORT: String(port), LOG_LEVEL: 'warn' }
  const operator = new OperatorProcess(['applications'], environment, OPERATOR_OPTIONS)
  try {
    await operator.ready(`${url}/readyz`)
    await whenLeading(url)
    return { operator, port, url }
  } catch (error) {
    await operator.stop()
    throw error
  }
}

const runningRow = (what: string, ours: number, bare: number): Row =>
  row(what, 'ms', ours, bare, { on: 'ratio', is: 'at most', limit: 1.2 })

function row(what: string, unit: string, ours: number, peer: number | undefined, bound: Row['bound']): Row {
  return { what, unit, ours, peer, bound }
}

async function whenLeading(url: string): Promise<void> {
  for (;;) {
    const { isLeader } = (await (await fetch(`${url}/leader`)).json()) as { isLeader: boolean }
    if (isLeader) return
    await pause(100)
  }
}

/** Alternates the same create through the operator and directly at the API server. */
async function compareCreates(client: Client, url: string): Promise<{ readonly http: number; readonly bare: number }> {
  const namespace = await newNamespace(client)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const path = `${url}/apis/cloudnative.elide.dev/v1/namespaces/${namespace}/applications`
  const http: number[] = []
  const bare: number[] = []
  await inParallel(HTTP_CREATES, 1, async (index) => {
    await timed(bare, () => client.create(Application, application(`bare-${index}`, namespace, 0)))
    await timed(http, () => post(agent, path, application(`http-${index}`, namespace, 0)))
  })
  agent.destroy()
  await removeNamespace(client, namespace)
  return { http: quantile(http, 0.5), bare: quantile(bare, 0.5) }
}

async function timed(times: number[], work: () => Promise<unknown>): Promise<void> {
  const began = performance.now()
  await work()
  times.push(performance.now() - began)
}

function post(agent: Agent, url: string, object: KubeObject): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => (response.statusCode === 201 ? resolve() : reject(new Error(text))))
    })
    request.end(JSON.stringify(object))
  })
}

/** Returns how long after the API server's own watch the readers see an event: p99 over all readers and events. */
async function readersBehind(client: Client, port: number): Promise<number> {
  const namespace = await newNamespace(client)
  const readers = await SseReaders.open(port, READERS)
  const atWatch = new Map<string, number>()
  const resourceVersion = (await client.list(Application, { namespace })).metadata.resourceVersion
  const ended = new AbortController()
  const watching = (async () => {
    for await (const events of client.watch(Application, { namespace, resourceVersion, signal: ended.signal })) {
      const now = performance.now()
      for (const event of events) {
        if (event.type !== 'BOOKMARK') atWatch.set(event.object.metadata.resourceVersion, now)
      }
    }
  })().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error
  })
  for (let index = 0; index < CHANGES; index++) {
    await client.create(Application, application(`seen-${index}`, namespace, 0))
    await pause(20)
  }
  await pause(2_000)
  ended.abort()
  await watching
  readers.close()
  const delays = readers.seen.flatMap((seen) =>
    [...atWatch].map(([version, at]) => {
      const then = seen.get(version)
      if (then === undefined) throw new Error(`A reader missed resourceVersion ${version}`)
      return Math.max(0, then - at)
    }),
  )
  await removeNamespace(client, namespace)
  return quantile(delays, 0.99)
}
