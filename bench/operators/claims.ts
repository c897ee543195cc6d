import type { Client } from '@tenure/kube'
import { bundleClaims } from '../bundle.ts'
import { connect } from '../programs/cluster.ts'
import type { Row } from '../rows.ts'
import type { OperatorContext } from './applications.ts'
import { embeddedThroughput } from './claims-embedded.ts'
import {
  burst,
  coldClaims,
  lazyClaims,
  newNamespace,
  oneAtATime,
  openLoop,
  renderingMs,
  throughput,
  writesPerClaim,
} from './claims-measured.ts'
import { ClaimsOperator, LAZY_TEMPLATE, SMALL_TEMPLATE } from './claims-operator.ts'
import type { ClaimsOperatorOptions } from './claims-operator.ts'
import { holdLease } from './hold-lease.ts'
import { quantile } from './operator-process.ts'

const POOL = 100
const LAZY_POOL = 30
const BURST = 300
const THROUGHPUT_POOL = 1_000

interface ClaimsContext {
  readonly client: Client
  readonly program: string
  readonly kubeconfig: string
  readonly say: (text: string) => void
}

/** Measures the claims operator as a process on a real cluster, next to a client that makes the same writes. */
export async function claimRows({ kubeconfig, say }: OperatorContext): Promise<readonly Row[]> {
  const programs = await bundleClaims()
  const { client, transport } = await connect(kubeconfig)
  const context = { client, program: programs.cluster, kubeconfig, say }
  try {
    return [
      ...(await poolRows(context)),
      ...(await burstRows(context)),
      ...(await throughputRows(context)),
      ...(await embeddedRows(programs.embedded, say)),
      atMost('rendering of the default template', 'ms', renderingMs(), 1),
    ]
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
    const single = await oneAtATime(target, whenFull)
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
    const loop = await openLoop(target)
    say('  open loop measured')
    const plain = quantile(single.claims, 0.5)
    const lazyLimit = 2 * plain + quantile(lazy.creates, 0.5)
    const at45 = 'warm claim, 45 per second'
    return [
      ratio('warm claim, one at a time, p50', 'ms', plain, quantile(single.bare, 0.5), 1.5),
      ratio('… p99', 'ms', quantile(single.claims, 0.99), quantile(single.bare, 0.99), 2),
      atMost(`${at45}, p50`, 'ms', quantile(loop.took, 0.5), 20),
      atMost(`${at45}, p99`, 'ms', quantile(loop.took, 0.99), 100),
      atMost('… failures', '', loop.failures, 0),
      { what: '… warm', unit: '%', ours: loop.warm * 100, peer: undefined, bound: atLeastValue(99) },
      ...published(loop.took),
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
  return await withOperator(context, { default: { count: BURST } }, async (operator, namespace) => {
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
    const { claims, bare } = await throughput({ operator, client, namespace }, THROUGHPUT_POOL)
    say('  throughput measured')
    return [throughputRow('hand-outs per second, 16 callers, refill paused', claims, bare, 0.7)]
  } finally {
    await operator.stop()
  }
}

async function embeddedRows(program: string, say: (text: string) => void): Promise<readonly Row[]> {
  const { claims, bare } = await embeddedThroughput(program)
  say('  embedded control plane measured')
  return [throughputRow('… on the embedded control plane; right: its in-process writes', claims, bare, 0.5)]
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

const atLeastValue = (limit: number): Row['bound'] => ({ on: 'value', is: 'at least', limit })

function atMost(what: string, unit: string, ours: number, limit: number): Row {
  return { what, unit, ours, peer: undefined, bound: { on: 'value', is: 'at most', limit } }
}

function ratio(what: string, unit: string, ours: number, peer: number, limit: number): Row {
  return { what, unit, ours, peer, bound: { on: 'ratio', is: 'at most', limit } }
}

/** By the median of the rounds. */
function throughputRow(what: string, claims: readonly number[], bare: readonly number[], limit: number): Row {
  const bound = { on: 'ratio', is: 'at least', limit } as const
  return { what, unit: '/s', ours: quantile(claims, 0.5), peer: quantile(bare, 0.5), bound }
}
