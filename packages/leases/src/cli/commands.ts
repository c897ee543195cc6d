import { OUTPUT_FORMATS, outputMeaning } from '@tenure/runtime/cli'
import { clearLease, extendLease, setLease } from './change.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { explainTerms } from './explain.ts'
import { listLeases } from './list.ts'

/** A subcommand of `tenure lease`, independent of the command line parser. */
export interface LeaseCommand {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly LeaseCommandArgument[]
  readonly options: readonly LeaseCommandOption[]
  /** Needs no cluster. Default false. */
  readonly offline?: boolean
  /** Resolves with the exit code. Rejects with a TenureError for the user. */
  run(context: LeaseCliContext, args: readonly string[], options: LeaseCliOptions): Promise<number>
}

export interface LeaseCommandArgument {
  readonly name: string
  readonly meaning: string
  /** Default true. */
  readonly required?: boolean
  /** Accepts any number of values. Default false. */
  readonly variadic?: boolean
}

export interface LeaseCommandOption {
  /** The option that receives the value. */
  readonly key: keyof LeaseCliOptions
  /** `-n, --namespace <name>`. */
  readonly flags: string
  readonly meaning: string
  /** The only values. Default: any. */
  readonly choices?: readonly string[]
}

const NAMESPACE: LeaseCommandOption = {
  key: 'namespace',
  flags: '-n, --namespace <name>',
  meaning: 'Namespace. Default: the one of the kubeconfig.',
}
const OBJECT: LeaseCommandArgument = { name: 'kind/name', meaning: 'Such as pod/test or deployments.apps/web.' }

export const leaseCommands: readonly LeaseCommand[] = [
  {
    name: 'list',
    summary: 'List leases of all kinds, soonest first.',
    arguments: [
      { name: 'kinds', meaning: 'Kinds to list, such as pods deployments.apps.', required: false, variadic: true },
    ],
    options: [
      NAMESPACE,
      { key: 'allNamespaces', flags: '-A, --all-namespaces', meaning: 'All namespaces and cluster-scoped kinds.' },
      { key: 'output', flags: '-o, --output <format>', meaning: outputMeaning(), choices: OUTPUT_FORMATS },
      { key: 'watch', flags: '-w, --watch', meaning: 'Show changes as they happen, until Ctrl-C.' },
    ],
    async run(context, args, options) {
      await listLeases(context, { ...options, ...(args.length > 0 && { kinds: args }) })
      return 0
    },
  },
  {
    name: 'set',
    summary: 'Give an object a lease that starts now, or a time of expiry.',
    arguments: [OBJECT, { name: 'ttl', meaning: 'Duration, such as 1h30m; time, such as 2026-06-11; or forever.' }],
    options: [
      NAMESPACE,
      {
        key: 'renewOn',
        flags: '--renew-on <event>',
        choices: ['update', 'never'],
        meaning:
          'With update, every update of the object starts its TTL again; with never, none does. Default: as it is.',
      },
    ],
    async run(context, [target = '', ttl = ''], options) {
      await setLease(context, target, ttl, options)
      return 0
    },
  },
  {
    name: 'extend',
    summary: 'Restart the lease of an object.',
    arguments: [OBJECT, { name: 'ttl', meaning: 'Duration from now. Default: its TTL.', required: false }],
    options: [NAMESPACE],
    async run(context, [target = '', ttl], options) {
      await extendLease(context, target, ttl, options)
      return 0
    },
  },
  {
    name: 'clear',
    summary: 'Remove the lease of an object: it will not expire.',
    arguments: [OBJECT],
    options: [NAMESPACE],
    async run(context, [target = ''], options) {
      await clearLease(context, target, options)
      return 0
    },
  },
  {
    name: 'explain',
    summary: 'Explain what a TTL means, or why it is invalid.',
    arguments: [{ name: 'ttl', meaning: 'Such as 1w2d.' }],
    options: [],
    offline: true,
    run: (context, [ttl = '']) => Promise.resolve(explainTerms(context, ttl) ? 0 : 1),
  },
]
