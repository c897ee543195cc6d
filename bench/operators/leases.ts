import { metadataOf } from '@tenure/kube'
import type { Client } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { cpuMs, rssMb } from '../control-plane/processes.ts'
import { ConfigMap, connect, inParallel } from '../programs/cluster.ts'
import { OPERATOR_OPTIONS } from '../measurements.ts'
import type { Row } from '../rows.ts'
import type { OperatorContext } from './applications.ts'
import { OperatorProcess, pause, quantile } from './operator-process.ts'

const PREFIX = 'object-lease-controller.ullberg.us'
const LEASES = 3_000
const AT_ONCE = 16
const MANY = 100_000
const IDLE_SECONDS = 20
const Metadata = metadataOf(ConfigMap)

/**
 * Measures the lease controller of ConfigMaps as a process on a real cluster, next to a bare client that does the same.
 */
export const leaseRows = (context: OperatorContext): Promise<readonly Row[]> => withClient(context, expiryRows)

/** Measures the same with 100,000 leases that do not expire. */
export const manyLeaseRows = (context: OperatorContext): Promise<readonly Row[]> => withClient(context, manyRows)

async function withClient(
  context: OperatorContext,
  measure: (client: Client, context: OperatorContext) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { client, transport } = await connect(context.kubeconfig)
  try {
    return await measure(client, context)
  } finally {
    await transport.close()
  }
}

async function expiryRows(client: Client, { kubeconfig, say }: OperatorContext): Promise<readonly Row[]> {
  const bare = await bareDeletes(client)
  const deletesPerSecond = LEASES / (bare / 1_000)
  say(`  a bare client deletes ${Math.round(deletesPerSecond)}/s`)
  const operator = await LeaseOperator.start(kubeconfig)
  try {
    const before = await operator.requests()
    const paced = await pacedExpiry(client, deletesPerSecond * 0.45)
    say('  all 60 s leases have expired')
    const after = await operator.requests()
    const mass = await massExpiry(client)
    say('  all simultaneous leases have expired')
    return [
      value('expire-at after creation, p99', 'ms', quantile(paced.dated, 0.99), 1_000),
      value('writes per lease', '', (after.writes - before.writes) / LEASES, 1),
      value('deletes per lease', '', (after.deletes - before.deletes) / LEASES, 1),
      value('deletion after expiry, p99', 'ms', quantile(paced.late, 0.99), 1_000),
      {
        what: '3,000 leases that expire together',
        unit: 'ms',
        ours: mass,
        peer: bare,
        bound: { on: 'ratio', is: 'at most', limit: 1.3 },
      },
    ]
  } finally {
    await operator.stop()
  }
}

/** Starts with 100,000 leased objects twice, because the first start writes every `expire-at`. */
async function manyRows(client: Client, { kubeconfig, say }: OperatorContext): Promise<readonly Row[]> {
  const namespace = await newNamespace(client)
  await inParallel(MANY, 32, (index) =>
    client.create(ConfigMap, {
      metadata: { name: `held-${index}`, namespace, annotations: { [`${PREFIX}/ttl`]: '1w' } },
    }),
  )
  say('  100,000 leased objects created')
  const first = await LeaseOperator.start(kubeconfig)
  await first.whenActive(MANY)
  await first.whenQuiet()
  await first.stop()
  say('  all dated')
  const listed = await timed(async () => {
    const { items } = await client.list(Metadata, { namespace })
    if (items.length < MANY) throw new Error(`Only ${items.length} objects listed`)
  })
  let second: LeaseOperator | undefined
  const started = await timed(async () => {
    second = await LeaseOperator.start(kubeconfig)
    await second.whenActive(MANY)
  })
  if (!second) throw new Error('The operator did not start')
  await pause(2_000)
  const cpuBefore = cpuMs([second.pid])
  await pause(IDLE_SECONDS * 1_000)
  const idle = (cpuMs([second.pid]) - cpuBefore) / IDLE_SECONDS
  const rss = rssMb([second.pid])
  await second.stop()
  await client.delete(Namespace, { name: namespace })
  return [
    {
      what: 'start with 100,000 leases',
      unit: 'ms',
      ours: started,
      peer: listed,
      bound: { on: 'ratio', is: 'at most', limit: 2 },
    },
    value('RSS with 100,000 leases', 'MB', rss, 250),
    value('CPU at rest, per second', 'ms', idle, 10),
  ]
}

function value(what: string, unit: string, ours: number, limit: number): Row {
  return { what, unit, ours, peer: undefined, bound: { on: 'value', is: 'at most', limit } }
}

class LeaseOperator {
  readonly #process: OperatorProcess
  readonly #metrics: string

  private constructor(process: OperatorProcess, metrics: string) {
    this.#process = process
    this.#metrics = metrics
  }

  static async start(kubeconfig: string): Promise<LeaseOperator> {
    const [metricsPort, probePort] = await freePorts(2)
    const process = new OperatorProcess(
      [
        'leases',
        '--version=v1',
        '--kind=ConfigMap',
        `--metrics-bind-address=127.0.0.1:${metricsPort}`,
        `--health-probe-bind-address=127.0.0.1:${probePort}`,
      ],
      { KUBECONFIG: kubeconfig },
      OPERATOR_OPTIONS,
    )
    await process.ready(`http://127.0.0.1:${probePort}/readyz`)
    return new LeaseOperator(process, `http://127.0.0.1:${metricsPort}/metrics`)
  }

  get pid(): number {
    return this.#process.pid
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }

  /** Reads the operator's own count of annotating and deleting requests; Events are POSTs and therefore not counted. */
  async requests(): Promise<{ readonly writes: number; readonly deletes: number }> {
    const text = await (await fetch(this.#metrics)).text()
    const sum = (method: string): number =>
      [...text.matchAll(/^rest_client_requests_total\{(.*)\} (\d+)$/gm)]
        .filter(([, labels = '']) => labels.includes(`method="${method}"`))
        .reduce((total, [, , count]) => total + Number(count), 0)
    return { writes: sum('PATCH'), deletes: sum('DELETE') }
  }

  async whenActive(count: number): Promise<void> {
    for (;;) {
      const text = await (await fetch(this.#metrics)).text()
      const active = Number(/^object_lease_controller_active_leases\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0)
      if (active >= count) return
      await pause(50)
    }
  }

  /** Waits until the operator has written nothing for two seconds. */
  async whenQuiet(): Promise<void> {
    for (let before = -1; ; await pause(2_000)) {
      const { writes } = await this.requests()
      if (writes === before) return
      before = writes
    }
  }
}

async function newNamespace(client: Client): Promise<string> {
  const { metadata } = await client.create(Namespace, { metadata: { generateName: 'bench-leases-' } })
  return metadata.name
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function bareDeletes(client: Client): Promise<number> {
  const namespace = await newNamespace(client)
  await inParallel(LEASES, AT_ONCE, (index) =>
    client.create(ConfigMap, { metadata: { name: `bare-${index}`, namespace } }),
  )
  const took = await timed(() =>
    inParallel(LEASES, AT_ONCE, (index) => client.delete(ConfigMap, { name: `bare-${index}`, namespace })),
  )
  await client.delete(Namespace, { name: namespace })
  return took
}

/** Creates 60 s leases at a rate that the API server can delete at. */
async function pacedExpiry(
  client: Client,
  perSecond: number,
): Promise<{ readonly dated: readonly number[]; readonly late: readonly number[] }> {
  const namespace = await newNamespace(client)
  const watched = watchLeases(client, namespace)
  const began = performance.now()
  await inParallel(LEASES, AT_ONCE, async (index) => {
    const ahead = (index / perSecond) * 1_000 - (performance.now() - began)
    if (ahead > 0) await pause(ahead)
    const annotations = { [`${PREFIX}/ttl`]: '60s' }
    await client.create(ConfigMap, { metadata: { name: `lease-${index}`, namespace, annotations } })
  })
  const seen = await watched
  await client.delete(Namespace, { name: namespace })
  return seen
}

/** Returns the time from the common expiry to the last deletion. */
async function massExpiry(client: Client): Promise<number> {
  const namespace = await newNamespace(client)
  const end = Math.ceil(Date.now() / 1_000) * 1_000 + 30_000
  const annotations = { [`${PREFIX}/expires`]: new Date(end).toISOString() }
  const watched = watchLeases(client, namespace)
  await inParallel(LEASES, AT_ONCE, (index) =>
    client.create(ConfigMap, { metadata: { name: `lease-${index}`, namespace, annotations } }),
  )
  if (Date.now() > end) throw new Error('The objects were not created in time')
  await watched
  const took = Date.now() - end
  await client.delete(Namespace, { name: namespace })
  return took
}

/**
 * Watches a namespace until 3,000 leases have come and gone, and records when each was dated and how late it was
 * deleted.
 */
async function watchLeases(
  client: Client,
  namespace: string,
): Promise<{ readonly dated: readonly number[]; readonly late: readonly number[] }> {
  const resourceVersion = (await client.list(Metadata, { namespace })).metadata.resourceVersion
  const born = new Map<string, number>()
  const dated = new Map<string, number>()
  const late: number[] = []
  for await (const events of client.watch(Metadata, { namespace, resourceVersion })) {
    const now = Date.now()
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue
      const { name, annotations } = event.object.metadata
      const expireAt = annotations?.[`${PREFIX}/expire-at`]
      if (event.type === 'ADDED' && name.startsWith('lease-')) born.set(name, now)
      if (expireAt !== undefined && !dated.has(name)) dated.set(name, now - (born.get(name) ?? now))
      if (event.type === 'DELETED' && expireAt !== undefined) late.push(now - Date.parse(expireAt))
    }
    if (late.length === LEASES) break
  }
  if (late.some((delay) => delay < 0)) throw new Error('A lease expired early')
  return { dated: [...dated.values()], late }
}
