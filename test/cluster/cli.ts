/** `npm run cluster -- up|down|status`: a real Kubernetes that runs until it is stopped. */
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { programArguments, usageExit } from '../../scripts/program-help.ts'
import { startCluster } from './cluster.ts'
import { withLock } from './lock.ts'
import { isAlive } from './process-identity.ts'
import { startStep, stderrProgress as say } from './progress.ts'
import { endRecorded, isRunning, readState } from './state.ts'

const HELP = {
  usage: 'npm run cluster -- up|down|status [options]',
  summary: 'Run a real Kubernetes on loopback, for tests and for trying things out.',
  commands: [
    {
      term: 'up',
      meaning:
        'Start it. The last line of output is KUBECONFIG=<path>. The first time its programs are built from source, which takes ' +
        'minutes; KUBEBUILDER_ASSETS, where set, names a folder with ready ones.',
    },
    { term: 'down', meaning: 'Stop it and delete its data.' },
    { term: 'status', meaning: 'Print what runs.' },
  ],
  options: [
    { term: '--durable', meaning: 'Let etcd wait for the disk on every write. (default false)' },
    { term: '--nodes <n>', meaning: 'Simulated nodes. (default 1)' },
    { term: '--directory <path>', meaning: 'Folder of its data. Default: .tenure/cluster in this checkout.' },
  ],
  exitCodes: [
    { term: '0', meaning: 'The command succeeded, or the cluster runs.' },
    { term: '1', meaning: 'It failed, or the cluster does not run.' },
    { term: '2', meaning: 'An option or an argument is wrong.' },
  ],
}

const DEFAULT_DIRECTORY = path.resolve(import.meta.dirname, '../../.tenure/cluster')

interface UpOptions {
  readonly durable: boolean
  readonly nodes: number
}

async function main(): Promise<number> {
  const { values, positionals } = programArguments(HELP, {
    allowPositionals: true,
    options: {
      durable: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '1' },
      directory: { type: 'string', default: DEFAULT_DIRECTORY },
    },
  })
  const directory = path.resolve(values.directory)
  const nodes = Number(values.nodes)
  const [command] = positionals
  if (positionals.length === 1 && Number.isInteger(nodes) && nodes >= 0) {
    // Concurrent calls would take each other's half-started programs for dead ones.
    const alone = (work: () => Promise<number>): Promise<number> =>
      withLock(`${directory}.lock`, () => say('Another "cluster" command is at work here; waiting for it.'), work)
    if (command === 'up') return alone(() => up(directory, { durable: values.durable, nodes }))
    if (command === 'down') return alone(() => down(directory))
    if (command === 'status') return status(directory)
  }
  return usageExit(`${positionals.join(' ') || 'Nothing'} with these options is not a command`)
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
  else throw error
  process.exitCode = 1
}
