/** `npm run cluster -- up|down|status`: a real Kubernetes that runs until it is stopped. */
import path from 'node:path'
import { parseArgs } from 'node:util'

import { TenureError } from '@tenure/kube'

import { startCluster } from './cluster.ts'
import { withLock } from './lock.ts'
import { isAlive } from './process-identity.ts'
import { startStep, stderrProgress as say } from './progress.ts'
import { endRecorded, isRunning, readState } from './state.ts'

const HELP = `A real Kubernetes on loopback, for tests and for trying things out.

usage: npm run cluster -- up|down|status [options]

  up      start it; the last line of output is KUBECONFIG=<path>. Runs already: says so.
          The first time its programs are built from source, which takes minutes; KUBEBUILDER_ASSETS, where set,
          names a folder with ready ones.
  down    stop it and delete its data
  status  what runs; exit code 1 if it does not

  --durable           etcd waits for the disk on every write (default: it does not)
  --nodes <n>         simulated nodes (default 1)
  --directory <path>  where it lives (default .tenure/cluster in this checkout)
`

const DEFAULT_DIRECTORY = path.resolve(import.meta.dirname, '../../.tenure/cluster')

interface UpOptions {
  readonly durable: boolean
  readonly nodes: number
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      durable: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '1' },
      directory: { type: 'string', default: DEFAULT_DIRECTORY },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const directory = path.resolve(values.directory)
  const nodes = Number(values.nodes)
  const [command] = positionals
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (positionals.length === 1 && Number.isInteger(nodes) && nodes >= 0) {
    // Concurrent calls would take each other's half-started programs for dead ones.
    const alone = (work: () => Promise<number>): Promise<number> =>
      withLock(`${directory}.lock`, () => say('Another "cluster" command is at work here; waiting for it.'), work)
    if (command === 'up') return alone(() => up(directory, { durable: values.durable, nodes }))
    if (command === 'down') return alone(() => down(directory))
    if (command === 'status') return status(directory)
  }
  process.stderr.write(HELP)
  return 2
}

async function up(directory: string, options: UpOptions): Promise<number> {
  const state = await readState(directory)
  if (state && isRunning(state)) {
    say(`The cluster already runs at ${state.server}. Stop it with: npm run cluster -- down`)
    printKubeconfig(state.kubeconfig)
    return 0
  }
  if (state) {
    say('The cluster here is not running completely. Starting a new cluster.')
    await endRecorded(directory)
  }
  const step = startStep(say, 'starting the cluster')
  const cluster = await startCluster({ directory, ...options })
  await cluster.release()
  step.end()
  say(`Kubernetes at ${cluster.server}; logs in ${path.join(directory, 'logs')}`)
  printKubeconfig(cluster.kubeconfig)
  return 0
}

async function down(directory: string): Promise<number> {
  const ended = await endRecorded(directory)
  say(ended.length > 0 ? `Stopped ${ended.join(', ')}.` : 'No cluster was running here.')
  return 0
}

async function status(directory: string): Promise<number> {
  const state = await readState(directory)
  if (!state) {
    process.stdout.write('No cluster here. Start one with: npm run cluster -- up\n')
    return 1
  }
  for (const { name, identity } of state.programs) {
    const is = isAlive(identity) ? `running, pid ${identity.pid}` : 'ended'
    process.stdout.write(`${name.padEnd(24)} ${is}\n`)
  }
  process.stdout.write(`${'server'.padEnd(24)} ${state.server}\n`)
  printKubeconfig(state.kubeconfig)
  return isRunning(state) ? 0 : 1
}

function printKubeconfig(file: string): void {
  process.stdout.write(`KUBECONFIG=${file}\n`)
}

try {
  process.exitCode = await main()
} catch (error) {
  if (error instanceof TenureError) say(`${error.message} (${error.code})`)
  else if (isUsageError(error)) say(`${error.message} See --help.`)
  else throw error
  process.exitCode = isUsageError(error) ? 2 : 1
}

function isUsageError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
