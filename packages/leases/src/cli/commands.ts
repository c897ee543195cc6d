import { clearLease, extendLease, setLease } from './change.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { explainTerms } from './explain.ts'
import { listLeases } from './list.ts'

/** A subcommand of `tenure lease` as data, for whichever parser reads the command line. */
export interface LeaseCommand {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly LeaseCommandArgument[]
  readonly options: readonly LeaseCommandOption[]
  /** It asks no cluster. Default false. */
  readonly offline?: boolean
  /** Resolves with the exit code. Rejects with a TenureError that says what is wrong. */
  run(context: LeaseCliContext, args: readonly string[], options: LeaseCliOptions): Promise<number>
}

export interface LeaseCommandArgument {
  readonly name: string
  readonly meaning: string
  /** Default true. */
  readonly required?: boolean
  /** Any number of them. Default false. */
  readonly variadic?: boolean
}

export interface LeaseCommandOption {
  /** Where its value goes. */
  readonly key: keyof LeaseCliOptions
  /** `-n, --namespace <name>`. */
  readonly flags: string
  readonly meaning: string
}

const NAMESPACE: LeaseCommandOption = {
  key: 'namespace',
  flags: '-n, --namespace <name>',
  meaning: 'The namespace. Default: that of the kubeconfig.',
}
const OBJECT: LeaseCommandArgument = { name: 'kind/name', meaning: 'Such as pod/test or deployments.apps/web.' }

export const leaseCommands: readonly LeaseCommand[] = [
  {
    name: 'list',
    summary: 'List leases of all kinds, soonest first.',
    arguments: [
      { name: 'kinds', meaning: 'Only these, such as pods deployments.apps.', required: false, variadic: true },
    ],
    options: [
      NAMESPACE,
      { key: 'allNamespaces', flags: '-A, --all-namespaces', meaning: 'All namespaces, and kinds that have none.' },
      { key: 'output', flags: '-o, --output <format>', meaning: 'table or json. Default table.' },
    ],
    async run(context, args, options) {
      await listLeases(context, { ...options, ...(args.length > 0 && { kinds: args }) })
      return 0
    },
  },
  {
    name: 'set',
    summary: 'Give an object a lease that starts now, or an end.',
    arguments: [OBJECT, { name: 'ttl', meaning: 'How long, such as 1h30m; a time, such as 2026-06-11; or forever.' }],
    options: [NAMESPACE],
    async run(context, [target = '', ttl = ''], options) {
      await setLease(context, target, ttl, options)
      return 0
    },
  },
  {
    name: 'extend',
    summary: 'Start the lease of an object anew.',
    arguments: [OBJECT, { name: 'ttl', meaning: 'How long from now. Default: its TTL.', required: false }],
    options: [NAMESPACE],
    async run(context, [target = '', ttl], options) {
      await extendLease(context, target, ttl, options)
      return 0
    },
  },
  {
    name: 'clear',
    summary: 'Take the lease of an object away: it is kept for good.',
    arguments: [OBJECT],
    options: [NAMESPACE],
    async run(context, [target = ''], options) {
      await clearLease(context, target, options)
      return 0
    },
  },
  {
    name: 'explain',
    summary: 'Say what a TTL means, or why it is refused.',
    arguments: [{ name: 'ttl', meaning: 'Such as 1w2d.' }],
    options: [],
    offline: true,
    run: (context, [ttl = '']) => Promise.resolve(explainTerms(context, ttl) ? 0 : 1),
  },
]
