import type { ProgramName } from './bundle.ts'
import { figure } from './rows.ts'
import type { Figures, Row } from './rows.ts'

export interface Measurement {
  readonly name: string
  /** Commands that the peer runs once before. Default: none. */
  readonly prepare?: readonly (readonly string[])[]
  /** Undefined: no peer to compare with. */
  readonly peer?: readonly string[]
  /** The program of ours to run. */
  readonly program: ProgramName
  readonly ours: readonly string[]
  /** Multiplies the rounds, for short measurements that vary. Default 1. */
  readonly times?: number
  /** Options for Node in addition to those of production. Default: none. */
  readonly node?: readonly string[]
  rows(ours: Figures, peer: Figures): readonly Row[]
}

/**
 * The options that the README recommends for an operator.
 * - A small young generation: cached objects live long, so a larger one is copied for nothing and stays resident (22 MB
 * of 118 after 10,000 ConfigMaps, at the same CPU).
 * - No extra threads for V8's compilers and collector: waking them costs 5 to 10 % of the CPU.
 * - No bundled certificate authorities: the kubeconfig has the cluster's own, and Node otherwise parses about 150 of
 * them when TLS is loaded.
 */
export const OPERATOR_OPTIONS: readonly string[] = ['--max-semi-space-size=2', '--v8-pool-size=0', '--use-openssl-ca']

/** With that option Node reads OpenSSL's certificate authorities instead: none. */
export const OPERATOR_ENVIRONMENT = { SSL_CERT_FILE: '/dev/null', SSL_CERT_DIR: '/dev/null' }

const atMost = (limit: number, on: 'ratio' | 'value' = 'ratio'): Row['bound'] => ({ on, is: 'at most', limit })
const atLeast = (limit: number, on: 'ratio' | 'value' = 'value'): Row['bound'] => ({ on, is: 'at least', limit })

/** Compares a figure that both sides print under the same name. */
function compare(
  what: string,
  unit: string,
  name: string,
  sides: readonly [Figures, Figures],
  bound: Row['bound'],
  divisor = 1,
): Row {
  const [ours, peer] = sides
  return { what, unit, ours: figure(ours, name) / divisor, peer: figure(peer, name) / divisor, bound }
}

/** For information only: Node's executable is 36 MB of every RSS, shared by all processes that run it. */
function anonymous(what: string, ours: Figures): Row {
  return { what, unit: 'MB', ours: figure(ours, 'anonKb') / 1024, peer: undefined, bound: undefined }
}

const SEEDED = ['--namespace', 'bench-seeded', '--count', '10000']
const SEED = ['seed', ...SEEDED, '--size', '1024']

export const measurements: readonly Measurement[] = [
  {
    name: 'informer sync',
    times: 5,
    prepare: [SEED],
    peer: ['informer-sync', '--namespace', 'bench-seeded'],
    program: 'informer',
    ours: ['informer-sync', '--namespace', 'bench-seeded'],
    rows: (ours, peer) => [
      compare('10,000 ConfigMaps of 1 KB: synced after', 'ms', 'wallMs', [ours, peer], atMost(1)),
      compare('… CPU', 'ms', 'cpuMs', [ours, peer], atMost(1)),
      compare('… RSS', 'MB', 'rssKb', [ours, peer], atMost(1.5), 1024),
      anonymous('… of which is not mapped from the executable', ours),
      {
        what: '… heap per byte of JSON',
        unit: '×',
        ours: figure(ours, 'heapBytesEach') / figure(ours, 'jsonBytesEach'),
        peer: undefined,
        bound: atMost(2, 'value'),
      },
    ],
  },
  {
    name: 'informer sync, metadata only',
    times: 5,
    prepare: [SEED],
    peer: ['informer-sync', '--namespace', 'bench-seeded', '--metadata'],
    program: 'informer',
    ours: ['informer-sync', '--namespace', 'bench-seeded', '--metadata', 'true'],
    rows: (ours, peer) => [
      compare('… metadata only: synced after', 'ms', 'wallMs', [ours, peer], atMost(1)),
      compare('… metadata only: CPU', 'ms', 'cpuMs', [ours, peer], atMost(1)),
      compare('… metadata only: RSS', 'MB', 'rssKb', [ours, peer], atMost(1), 1024),
      anonymous('… metadata only: of which is not mapped from the executable', ours),
      {
        what: '… metadata only: heap per object',
        unit: 'bytes',
        ours: figure(ours, 'heapBytesEach'),
        peer: undefined,
        bound: atMost(1024, 'value'),
      },
    ],
  },
  {
    name: 'watch throughput',
    peer: ['watch-throughput', ...watched()],
    program: 'informer',
    ours: ['watch-throughput', ...watched()],
    rows: (ours, peer) => [compare('watch event: CPU', 'µs', 'cpuUsEach', [ours, peer], atMost(1))],
  },
  {
    name: 'reconcile, nothing to do',
    prepare: [SEED],
    peer: ['reconcile-noop', ...SEEDED, '--rounds', '20', '--workers', '1'],
    program: 'reconcile',
    ours: ['reconcile-noop', ...SEEDED, '--rounds', '20', '--workers', '1'],
    rows: (ours, peer) => [
      compare('reconcile with nothing to do: CPU', 'µs', 'cpuUsEach', [ours, peer], atMost(20, 'value')),
    ],
  },
  {
    name: 'reconcile with a cache read',
    prepare: [SEED],
    peer: ['reconcile-read', ...SEEDED, '--rounds', '20', '--workers', '1'],
    program: 'reconcile',
    ours: ['reconcile-read', ...SEEDED, '--rounds', '20', '--workers', '1'],
    rows: (ours, peer) => [compare('reconcile with a cache read: CPU', 'µs', 'cpuUsEach', [ours, peer], atMost(1))],
  },
  {
    name: 'server-side apply',
    peer: ['apply', ...applied()],
    program: 'apply',
    ours: ['apply', ...applied()],
    rows: (ours, peer) => [compare('server-side apply, 16 at a time: CPU', 'µs', 'cpuUsEach', [ours, peer], atMost(1))],
  },
  {
    name: 'idle operator',
    prepare: [['seed', '--namespace', 'bench-idle', '--count', '1']],
    program: 'idle',
    ours: ['idle', '--namespace', 'bench-idle', '--seconds', '20'],
    rows: (ours) => [
      {
        what: 'idle operator, 20 s: requests besides watches and lease renewals',
        unit: '',
        ours: figure(ours, 'others'),
        peer: undefined,
        bound: atMost(0, 'value'),
      },
    ],
  },
  {
    name: 'queue',
    peer: ['queue', '--count', '100000', '--rounds', '5'],
    program: 'queue',
    ours: ['queue', '--count', '100000', '--rounds', '5'],
    // By CPU, because wall time depends on other load on the machine.
    rows: (ours, peer) => [
      {
        what: 'queue: add, get, done per second of CPU',
        unit: '',
        ours: 1e6 / figure(ours, 'cpuUsEach'),
        peer: 1e6 / figure(peer, 'cpuUsEach'),
        bound: atLeast(500_000),
      },
    ],
  },
]

function watched(): readonly string[] {
  const load = ['--count', '5000', '--objects', '16', '--size', '1024', '--concurrency', '16']
  return ['--namespace', 'bench-watch', '--prefix', 'watched-', ...load]
}

function applied(): readonly string[] {
  return [
    '--namespace',
    'bench-apply',
    '--prefix',
    'child-',
    '--count',
    '2000',
    '--size',
    '1024',
    '--concurrency',
    '16',
  ]
}
