import { Client, connectTo, HttpTransport, loadConfig, RestMapper, systemClock } from '@tenure/kube'
import { leaseCommands } from '@tenure/leases'
import type { LeaseCliContext, LeaseCliOptions } from '@tenure/leases'
import { Command } from 'commander'

/** `tenure lease list`, `set`, `extend`, `clear` and `explain`. */
export function leaseCommand(): Command {
  const lease = new Command('lease').description('see and change the leases of objects')
  lease.option('--kubeconfig <path>', 'which cluster (default: KUBECONFIG, or the one it runs in)')
  for (const { name, summary, arguments: args, options, offline = false, run } of leaseCommands) {
    const command = lease.command(name).description(summary.replace(/\.$/, ''))
    for (const { name: argument, meaning, required = true, variadic } of args) {
      const shown = `${argument}${variadic ? '...' : ''}`
      command.argument(required ? `<${shown}>` : `[${shown}]`, meaning)
    }
    for (const { flags, meaning } of options) command.option(flags, meaning)
    command.action(async () => {
      const { kubeconfig, ...given } = command.optsWithGlobals<LeaseCliOptions & { kubeconfig?: string }>()
      process.exitCode = await withCluster(kubeconfig, offline, (context) => run(context, command.args, given))
    })
  }
  return lease
}

async function withCluster<R>(
  kubeconfigPath: string | undefined,
  offline: boolean,
  work: (context: LeaseCliContext) => Promise<R>,
): Promise<R> {
  const config = offline
    ? connectTo({ server: 'https://127.0.0.1' })
    : await loadConfig(kubeconfigPath === undefined ? {} : { kubeconfigPath })
  const transport = new HttpTransport(config, { userAgent: 'tenure' })
  try {
    const api = new Client({ transport, fieldManager: 'tenure' })
    return await work({
      api,
      kinds: new RestMapper(api.requester),
      clock: systemClock,
      namespace: config.namespace,
      write: (text) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
      warn: (text) => void process.stderr.write(text.endsWith('\n') ? text : `${text}\n`),
    })
  } finally {
    await transport.close()
  }
}
