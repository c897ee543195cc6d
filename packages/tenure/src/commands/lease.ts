import {
  Client,
  connectTo,
  HttpTransport,
  type Kind,
  type KubeObject,
  RestMapper,
  type Selection,
  systemClock,
} from '@tenure/kube'
import { leaseCommands, leaseFamilies, NEWER_FAMILY, SEED_FAMILY } from '@tenure/leases/cli'
import type { LeaseCliContext, LeaseCliOptions } from '@tenure/leases/cli'
import { Command, Option } from 'commander'
import { type CommandExamples, withHelp } from '../cli/command-help.ts'
import type { ClusterContext } from './cluster/context.ts'
import { LiveLists } from './cluster/live-lists.ts'
import { withCluster } from './cluster/with-cluster.ts'

interface GlobalOptions {
  readonly kubeconfig?: string
  readonly prefix: string
  readonly newerPrefix: string
}

const EXAMPLES = [
  { term: 'tenure lease list -A', meaning: 'List what ends next.' },
  { term: 'tenure lease set deployment/shop 8h', meaning: 'Delete a Deployment after eight hours.' },
  { term: 'tenure lease extend deployment/shop', meaning: 'Start its TTL again.' },
]

const SUBCOMMAND_EXAMPLES: CommandExamples = {
  list: [
    { term: 'tenure lease list -A', meaning: 'List what ends next, in all namespaces.' },
    { term: 'tenure lease list pods deployments.apps', meaning: 'List the leases of two kinds.' },
  ],
  set: [
    { term: 'tenure lease set deployment/shop 8h', meaning: 'Delete a Deployment after eight hours.' },
    { term: 'tenure lease set namespace/preview 2026-12-24T18:00:00Z', meaning: 'Delete a Namespace at a time.' },
  ],
  extend: [{ term: 'tenure lease extend deployment/shop 2h', meaning: 'Delete it two hours from now.' }],
  clear: [{ term: 'tenure lease clear deployment/shop', meaning: 'Keep a Deployment for good.' }],
  explain: [{ term: 'tenure lease explain 1w2d', meaning: 'Say when a lease of nine days ends.' }],
}

/** An invalid TTL is the answer of `explain`, and not a wrong argument. */
const EXPLAIN_EXIT_CODES = [
  { term: '0', meaning: 'The TTL is valid.' },
  { term: '1', meaning: 'The TTL is invalid; the output says why.' },
  { term: '2', meaning: 'An option or an argument is wrong.' },
]

/** The commands `tenure lease list`, `set`, `extend`, `clear` and `explain`. */
export function leaseCommand(): Command {
  const lease = new Command('lease').description('Show and change the leases of objects.')
  for (const [flags, environment, family] of [
    ['--prefix <prefix>', 'LEASE_PREFIX', SEED_FAMILY],
    ['--newer-prefix <prefix>', 'LEASE_NEWER_PREFIX', NEWER_FAMILY],
  ] as const) {
    const meaning = `Prefix of the annotations with ${family.start}.`
    lease.addOption(new Option(flags, meaning).env(environment).default(family.prefix))
  }
  lease.option(
    '--kubeconfig <path>',
    'Path of the kubeconfig. Default: KUBECONFIG, or that of `npm start`, or the in-cluster configuration.',
  )
  for (const { name, summary, arguments: args, options, offline = false, run } of leaseCommands) {
    const command = lease.command(name).description(summary)
    const exitCodes = name === 'explain' ? EXPLAIN_EXIT_CODES : undefined
    withHelp(command, { examples: SUBCOMMAND_EXAMPLES[name], exitCodes })
    for (const { name: argument, meaning, required = true, variadic } of args) {
      const shown = `${argument}${variadic ? '...' : ''}`
      command.argument(required ? `<${shown}>` : `[${shown}]`, meaning)
    }
    for (const { flags, meaning, choices } of options) {
      const option = new Option(flags, meaning)
      command.addOption(choices ? option.choices(choices) : option)
    }
    command.action(async () => {
      const { kubeconfig, prefix, newerPrefix, ...given } = command.optsWithGlobals<LeaseCliOptions & GlobalOptions>()
      // An empty variable counts as unset, as for the controllers.
      const families = leaseFamilies({
        prefix: prefix || SEED_FAMILY.prefix,
        newerPrefix: newerPrefix || NEWER_FAMILY.prefix,
      })
      const context = offline ? offlineContext() : undefined
      process.exitCode = context
        ? await run({ ...context, families }, command.args, given)
        : await withCluster({ kubeconfig }, (cluster) =>
            onCluster(cluster, { families, run, args: command.args, given }),
          )
    })
  }
  return withHelp(lease, { examples: EXAMPLES, sharesOptions: true })
}

interface LeaseRun {
  readonly families: NonNullable<LeaseCliContext['families']>
  readonly run: (context: LeaseCliContext, args: readonly string[], options: LeaseCliOptions) => Promise<number>
  readonly args: readonly string[]
  readonly given: LeaseCliOptions
}

async function onCluster(cluster: ClusterContext, { args, families, given, run }: LeaseRun): Promise<number> {
  const { config, signal, terminal } = cluster
  const context = { ...cluster, namespace: config.namespace, families, follow: { signal, terminal } }
  if (!given.watch) return await run(context, args, given)
  const lists = new LiveLists(cluster)
  const live = {
    changed: (until: AbortSignal) => lists.changed(until),
    pages: <T extends KubeObject>(kind: Kind<T>, selection: Selection) => lists.pages(kind, selection),
  }
  return await run({ ...context, live }, args, given)
}

/** For commands that send nothing. */
function offlineContext(): LeaseCliContext {
  const api = new Client({ transport: new HttpTransport(connectTo({ server: 'https://127.0.0.1' })) })
  return {
    api,
    kinds: new RestMapper(api.requester),
    clock: systemClock,
    namespace: '',
    write: (text) => void process.stdout.write(`${text}\n`),
    warn: (text) => void process.stderr.write(`${text}\n`),
  }
}
