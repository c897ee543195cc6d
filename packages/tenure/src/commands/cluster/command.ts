import { Command } from 'commander'
import type { ClusterContext, ClusterOptions } from './context.ts'
import { describeCommandFailure } from './run.ts'
import { withCluster } from './with-cluster.ts'

/** A command that looks at a cluster, with the options that all of them have. Its operands come first. */
export function clusterCommand(
  name: string,
  summary: string,
  run: (context: ClusterContext, options: ClusterOptions, operands: readonly string[]) => Promise<number>,
  /** The exit code of a failure before there is a connection. Default: the failure is printed. */
  onUnconnected: (error: unknown, options: ClusterOptions) => number | undefined = () => undefined,
): Command {
  const command = new Command(name)
    .description(summary)
    .option(
      '--kubeconfig <path>',
      'path of the kubeconfig (default: KUBECONFIG, then ~/.kube/config, then .tenure/kubeconfig)',
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option('--database-url <url>', 'PostgreSQL with the rows of databases (default: DATABASE_URL, then as tenure db)')
  command.action(async () => {
    const options = command.opts<ClusterOptions>()
    let config: ClusterContext['config'] | undefined
    try {
      process.exitCode = await withCluster(options, (context) => {
        config = context.config
        return run(context, options, command.args)
      })
    } catch (error) {
      const reported = config === undefined ? onUnconnected(error, options) : undefined
      if (reported !== undefined) {
        process.exitCode = reported
        return
      }
      const { code, message } = describeCommandFailure(error, config)
      process.stderr.write(`${message.replaceAll(/\s*\n\s*/g, ' ')}\n`)
      process.exitCode = code
    }
  })
  return command
}
