import { TestPostgres } from '@tenure/databases/testing'
import { OPERATOR_NAMES, operatorRun, type OperatorName, type PostgresAddress } from '../../test/image/operators.ts'
import { cpuMs, rssMb } from '../control-plane/processes.ts'
import { OperatorProcess, pause } from '../operators/operator-process.ts'
import { ConfigMap, connect, inParallel } from '../programs/cluster.ts'
import type { Row } from '../rows.ts'
import { BARE_PROGRAMS } from './bare.ts'
import { imageOptions } from './options.ts'

const LEASES = 3_000
/** Milliseconds between ready and the measurement of memory, so that it includes the first renewals. */
const REST_MS = 10_000
const READY_CHECK_MS = 5

export interface ImageContext {
  readonly kubeconfig: string
  /** The command of the bundle. */
  readonly program: string
  readonly rounds: number
  say(text: string): void
}

/** Figures of one process. */
interface Figures {
  readonly rss: number
  readonly readyMs: number
}

/** Memory and start of each operator of the bundle, with the options of the image. */
export async function operatorRows(context: ImageContext): Promise<readonly Row[]> {
  const { rounds, say } = context
  const bare = await repeat(rounds, () => measureBare('bare', context))
  const tls = await repeat(rounds, () => measureBare('tls', context))
  say(`  bare Node has ${bare.rss.toFixed(1)} MB, with a TLS connection ${tls.rss.toFixed(1)} MB`)
  const rows: Row[] = [
    { what: 'bare Node: RSS', unit: 'MB', ours: bare.rss, peer: undefined, bound: undefined },
    { what: 'bare Node with a TLS connection: RSS', unit: 'MB', ours: tls.rss, peer: undefined, bound: undefined },
  ]
  for (const name of OPERATOR_NAMES) {
    const { rss, readyMs } = await repeat(rounds, () => measureOperator(name, context))
    const limit = name === 'leases' ? 80 : 110
    say(`  ${name}: ${rss.toFixed(1)} MB, ready after ${readyMs.toFixed(0)} ms`)
    rows.push(
      { what: `${name}: RSS at rest`, unit: 'MB', ours: rss, peer: tls.rss, bound: atMost(limit) },
      { what: `${name}: start to ready`, unit: 'ms', ours: readyMs, peer: tls.readyMs, bound: atMost(500) },
    )
  }
  const held = await measureManyLeases(context)
  rows.push(
    { what: 'leases: RSS with 3,000 leases', unit: 'MB', ours: held.rss, peer: tls.rss, bound: atMost(110) },
    { what: 'leases: CPU to date 3,000 leases', unit: 'ms', ours: held.cpuMs, peer: undefined, bound: undefined },
  )
  return rows
}

const atMost = (limit: number): Row['bound'] => ({ on: 'value', is: 'at most', limit })

/** The median of each figure. */
async function repeat(rounds: number, measure: () => Promise<Figures>): Promise<Figures> {
  const runs: Figures[] = []
  for (let round = 0; round < rounds; round++) runs.push(await measure())
  const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
  return { rss: median(runs.map(({ rss }) => rss)), readyMs: median(runs.map(({ readyMs }) => readyMs)) }
}

/** A program that does nothing else: what any process with this Node takes. */
async function measureBare(name: keyof typeof BARE_PROGRAMS, { kubeconfig }: ImageContext): Promise<Figures> {
  const started = performance.now()
  const child = new OperatorProcess([kubeconfig], environmentWith(kubeconfig), imageOptions(), BARE_PROGRAMS[name])
  try {
    await child.printed('ready')
    const readyMs = performance.now() - started
    await pause(REST_MS / 10)
    return { rss: rssMb([child.pid]), readyMs }
  } finally {
    await child.stop()
  }
}

async function measureOperator(name: OperatorName, context: ImageContext): Promise<Figures> {
  const postgres = name === 'databases' ? await TestPostgres.start('embedded') : undefined
  try {
    const { child, readyMs } = await startOperator(name, context, await addressOf(postgres))
    try {
      await pause(REST_MS)
      return { rss: rssMb([child.pid]), readyMs }
    } finally {
      await child.stop()
    }
  } finally {
    await postgres?.stop()
  }
}

/** The process that has written `expire-at` to all of them. */
async function measureManyLeases(context: ImageContext): Promise<{ readonly rss: number; readonly cpuMs: number }> {
  const { client, transport } = await connect(context.kubeconfig)
  const name = `bench-image-${process.pid}`
  const annotations = { 'object-lease-controller.ullberg.us/ttl': '1w' }
  const objects = Array.from({ length: LEASES }, (_, index) => ({ namespace: 'default', name: `${name}-${index}` }))
  await inParallel(LEASES, 16, (index) => client.create(ConfigMap, { metadata: { ...objects[index], annotations } }))
  context.say(`  ${LEASES} leased objects created`)
  const { child, metricsUrl } = await startOperator('leases', context)
  try {
    const active = /^object_lease_controller_active_leases\{.*\} (\d+)$/m
    while (Number(active.exec(await (await fetch(metricsUrl)).text())?.[1] ?? 0) < LEASES) await pause(100)
    await pause(REST_MS)
    return { rss: rssMb([child.pid]), cpuMs: cpuMs([child.pid]) }
  } finally {
    await child.stop()
    await inParallel(LEASES, 16, (index) => client.delete(ConfigMap, objects[index] ?? { namespace: '', name: '' }))
    await transport.close()
  }
}

interface StartedOperator {
  readonly child: OperatorProcess
  readonly readyMs: number
  readonly metricsUrl: string
}

async function startOperator(
  name: OperatorName,
  { kubeconfig, program }: ImageContext,
  postgres?: PostgresAddress,
): Promise<StartedOperator> {
  const { args, environment, readyUrl } = await operatorRun(name, postgres)
  const started = performance.now()
  const all = { ...environmentWith(kubeconfig), ...environment }
  const child = new OperatorProcess(args, all, imageOptions(), program)
  await child.ready(readyUrl, READY_CHECK_MS)
  const readyMs = performance.now() - started
  return { child, readyMs, metricsUrl: `http://${environment['LEASE_METRICS_BIND_ADDRESS']}/metrics` }
}

/** A file of further authorities takes each process 10 ms, and images have none. */
function environmentWith(kubeconfig: string): Readonly<Record<string, string>> {
  return { KUBECONFIG: kubeconfig, NODE_EXTRA_CA_CERTS: '', LOG_FORMAT: 'json' }
}

async function addressOf(postgres: TestPostgres | undefined): Promise<PostgresAddress | undefined> {
  const address = await postgres?.createDatabase()
  return address && { ...address, password: address.password?.reveal() ?? '' }
}
