import type { Client, Stored } from '@tenure/kube'
import { bundleClaims, bundleOperators } from '../bundle.ts'
import { connect } from '../programs/cluster.ts'
import type { ConfigMap } from '../programs/cluster.ts'
import type { Row } from '../rows.ts'
import type { OperatorContext } from './applications.ts'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { anyMember } from './bare-members.ts'
import { BarePool, openLoop } from './claims-loop.ts'
import type { LoopResult } from './claims-loop.ts'
import { embeddedThroughput } from './claims-embedded.ts'
import {
  burst,
  coldClaims,
  lazyClaims,
  newNamespace,
  oneAtATime,
  renderingMs,
  throughput,
  uniform,
  writesPerClaim,
} from './claims-measured.ts'
import { ClaimsOperator, LAZY_TEMPLATE, NODE_OPTIONS, POD_TEMPLATE, SMALL_TEMPLATE } from './claims-operator.ts'
import type { BarePorts, HandOutFigures } from './claims-measured.ts'
import type { ClaimsOperatorOptions } from './claims-operator.ts'
import { holdLease } from './hold-lease.ts'
import { OperatorProcess, quantile } from './operator-process.ts'

const BEHIND_BARE = 'behind a bare fastify server with a watch'
const BEHIND_GUARDS = 'behind the HTTP server of operators with a watch'
const POOL = 40
const LOOP_POOL = 100
const LAZY_POOL = 30
const BURST = 300
const THROUGHPUT_POOL = 4_000

interface ClaimsContext {
  readonly client: Client
  readonly program: string
  readonly bareProgram: string
  readonly kubeconfig: string
  readonly say: (text: string) => void
}

/** Measures the claims operator as a process on a real cluster, next to a client that makes the same writes. */
export const claimRows = (context: OperatorContext): Promise<readonly Row[]> => onCluster(context, poolRows)

export const claimLoopRows = (context: OperatorContext): Promise<readonly Row[]> => onCluster(context, loopRows)

export const claimBurstRows = (context: OperatorContext): Promise<readonly Row[]> => onCluster(context, burstRows)

export const claimThroughputRows = (context: OperatorContext): Promise<readonly Row[]> =>
  onCluster(context, throughputRows)

/** Measures it in one process with the embedded control plane. */
export async function embeddedClaimRows({ say }: OperatorContext): Promise<readonly Row[]> {
  const { embedded } = await bundleClaims()
  const { claims, bare, bareHttp, guarded } = await embeddedThroughput(embedded)
  say('  embedded control plane measured')
  return [
    throughputRow('… on the embedded control plane; right: its in-process writes', claims, bare, 0.5),
    ...behindServers(claims, { bareHttp, guarded }),
    atMost('rendering of the default template', 'ms', renderingMs(), 1),
  ]
}

async function onCluster(
  { kubeconfig, say }: OperatorContext,
  measure: (context: ClaimsContext) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const [program, { bare: bareProgram }] = await Promise.all([bundleOperators(), bundleClaims()])
  const { client, transport } = await connect(kubeconfig)
  try {
    return await measure({ client, program, bareProgram, kubeconfig, say })
  } finally {
    await transport.close()
  }
}

async function poolRows(context: ClaimsContext): Promise<readonly Row[]> {
  const pools = {
    default: { count: POOL },
    cold: { count: 0 },
    lazy: { count: LAZY_POOL, template: LAZY_TEMPLATE },
  }
  return await withOperator(context, pools, async (operator, namespace) => {
    const { client, say } = context
    const target = { operator, client, namespace }
    const whenFull = async (): Promise<void> => {
      await operator.whenFull('default', POOL)
      await operator.whenFull('lazy', LAZY_POOL)
    }
    await whenFull()
    const single = await withBareServers(context, namespace, (ports) => oneAtATime(target, ports, whenFull))
    say('  one at a time measured')
    await whenFull()
    const lazy = await lazyClaims(target)
    say('  values and a lazy object measured')
    await whenFull()
    const late = await coldClaims(target)
    say('  cold claims measured')
    await whenFull()
    const writes = await writesPerClaim(target, whenFull)
    say('  writes counted')
    const plain = quantile(single.claims, 0.5)
    const lazyLimit = 2 * plain + quantile(lazy.creates, 0.5)
    return [
      ratio('warm claim, one at a time, p50', 'ms', plain, quantile(single.bare, 0.5), 1.5),
      {
        what: `… right: the same write ${BEHIND_BARE}`,
        unit: 'ms',
        ours: plain,
        peer: quantile(single.bareHttp, 0.5),
        bound: undefined,
      },
      {
        what: `… right: the same write ${BEHIND_GUARDS}`,
        unit: 'ms',
        ours: plain,
        peer: quantile(single.guarded, 0.5),
        bound: undefined,
      },
      ratio('… p99', 'ms', quantile(single.claims, 0.99), quantile(single.bare, 0.99), 2),
      atMost('cold claim after its pod was Ready, p99', 'ms', quantile(late, 0.99), 150),
      {
        what: '… median; right: the original, which polls (its behaviour, not measured here)',
        unit: 'ms',
        ours: quantile(late, 0.5),
        peer: 4_000,
        bound: undefined,
      },
      ratio(
        'warm claim with values and a lazy Secret, p50; right: 2 plain and a create',
        'ms',
        quantile(lazy.claims, 0.5),
        lazyLimit,
        1,
      ),
      atMost('API writes of a claim besides its children', '', writes.writes, 3),
      { what: '… its deletion', unit: '', ours: writes.deletes, peer: undefined, bound: undefined },
      { what: '… its Events', unit: '', ours: writes.events, peer: undefined, bound: undefined },
    ]
  })
}

/**
 * Callers that arrive at random. The claims have a Pod alone: of the default template, with a Service, the cluster itself
 * cannot make 45 per second on two CPUs.
 */
async function loopRows(context: ClaimsContext): Promise<readonly Row[]> {
  const pools = { default: { count: LOOP_POOL, template: POD_TEMPLATE } }
  return await withOperator(context, pools, async (operator, namespace) => {
    const { client, say } = context
    await operator.whenFull('default', LOOP_POOL)
    const like = await anyMember(client, namespace)
    const loop = await openLoop(operator.client, uniform())
    say('  open loop measured')
    await operator.whenFull('default', LOOP_POOL)
    const bare = await bareLoop(client, like)
    say('  open loop without the operator measured')
    return [
      ...(
        [
          [0.5, 20],
          [0.99, 100],
        ] as const
      ).map(([share, limit]): Row => ({
        what: `warm claim, 45 per second, p${share * 100}`,
        unit: 'ms',
        ours: quantile(loop.took, share),
        peer: quantile(bare.took, share),
        bound: { on: 'value', is: 'at most', limit },
      })),
      atMost('… failures', '', loop.failures, 0),
      {
        what: '… warm',
        unit: '%',
        ours: loop.warm * 100,
        peer: bare.warm * 100,
        bound: { on: 'value', is: 'at least', limit: 99 },
      },
      ...published(loop.took),
    ]
  })
}

async function bareLoop(client: Client, like: Stored<ConfigMap>): Promise<LoopResult> {
  const pool = new BarePool(client, await newNamespace(client), like)
  await pool.fill(LOOP_POOL)
  const result = await openLoop(pool, uniform())
  await pool.close()
  return result
}

/** Figures that the makers of agent-sandbox published for warm claims at the same rate, on their cluster. */
function published(took: readonly number[]): readonly Row[] {
  return (
    [
      [0.5, 92],
      [0.9, 182],
      [0.99, 376],
    ] as const
  ).map(([share, theirs]) => ({
    what: `… p${share * 100}; right: agent-sandbox (published by it, not measured here)`,
    unit: 'ms',
    ours: quantile(took, share),
    peer: theirs,
    bound: undefined,
  }))
}

async function burstRows(context: ClaimsContext): Promise<readonly Row[]> {
  const pools = { default: { count: BURST, template: POD_TEMPLATE } }
  return await withOperator(context, pools, async (operator, namespace) => {
    const { client, say } = context
    const target = { operator, client, namespace }
    await operator.whenFull('default', BURST)
    const { claims, bare } = await burst(target, BURST, () => operator.whenFull('default', BURST))
    say('  bursts measured')
    return [ratio(`${BURST} claims at once, pool of ${BURST}`, 'ms', quantile(claims, 0.5), quantile(bare, 0.5), 3)]
  })
}

/** The pool is filled by one process; the one that is measured does not become the leader, so that nothing is refilled. */
async function throughputRows(context: ClaimsContext): Promise<readonly Row[]> {
  const pools = { default: { count: THROUGHPUT_POOL, template: SMALL_TEMPLATE } }
  const { client, say } = context
  const namespace = await newNamespace(client)
  const filled = await ClaimsOperator.start({ ...context, namespace, pools })
  await filled.whenFull('default', THROUGHPUT_POOL)
  await filled.stop()
  await holdLease(client, namespace)
  const operator = await ClaimsOperator.start({ ...context, namespace, pools })
  try {
    const target = { operator, client, namespace }
    const { claims, bare, bareHttp, guarded } = await withBareServers(context, namespace, (ports) =>
      throughput(target, { pool: THROUGHPUT_POOL, ports }),
    )
    say('  throughput measured')
    return [
      throughputRow('hand-outs per second, 16 callers, refill paused', claims, bare, 0.7),
      ...behindServers(claims, { bareHttp, guarded }),
    ]
  } finally {
    await operator.stop()
  }
}

async function withBareServers<R>(
  { bareProgram, kubeconfig }: ClaimsContext,
  namespace: string,
  measure: (ports: BarePorts) => Promise<R>,
): Promise<R> {
  const [bare = 0, guarded = 0] = await freePorts(2)
  const servers: OperatorProcess[] = []
  try {
    for (const [server, port] of Object.entries({ bare, guarded })) {
      const args = ['--namespace', namespace, '--port', String(port), '--server', server]
      const process = new OperatorProcess(args, { KUBECONFIG: kubeconfig }, NODE_OPTIONS, bareProgram)
      servers.push(process)
      await process.ready(`http://127.0.0.1:${port}/`)
    }
    return await measure({ bare, guarded })
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function withOperator<R>(
  context: ClaimsContext,
  pools: ClaimsOperatorOptions['pools'],
  measure: (operator: ClaimsOperator, namespace: string) => Promise<R>,
): Promise<R> {
  const namespace = await newNamespace(context.client)
  const operator = await ClaimsOperator.start({ ...context, namespace, pools })
  try {
    return await measure(operator, namespace)
  } finally {
    await operator.stop()
  }
}

function atMost(what: string, unit: string, ours: number, limit: number): Row {
  return { what, unit, ours, peer: undefined, bound: { on: 'value', is: 'at most', limit } }
}

function ratio(what: string, unit: string, ours: number, peer: number, limit: number): Row {
  return { what, unit, ours, peer, bound: { on: 'ratio', is: 'at most', limit } }
}

/** Beside the least that any program needs, without and with what every API of an operator has. */
function behindServers(
  claims: readonly number[],
  { bareHttp, guarded }: Pick<HandOutFigures, 'bareHttp' | 'guarded'>,
): readonly Row[] {
  return [
    { ...throughputRow(`… right: the same writes ${BEHIND_BARE}`, claims, bareHttp, 0), bound: undefined },
    { ...throughputRow(`… right: the same writes ${BEHIND_GUARDS}`, claims, guarded, 0), bound: undefined },
  ]
}

/** By the median of the rounds. */
function throughputRow(what: string, claims: readonly number[], bare: readonly number[], limit: number): Row {
  const bound = { on: 'ratio', is: 'at least', limit } as const
  return { what, unit: '/s', ours: quantile(claims, 0.5), peer: quantile(bare, 0.5), bound }
}
