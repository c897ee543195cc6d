import type { Command } from 'commander'
import { withHelp } from '../cli/command-help.ts'
import { outputOption } from '../cli/output-option.ts'
import { clusterCommand } from './cluster/command.ts'
import { runStatus } from './status/run-status.ts'

/** The command `tenure status`. */
export function statusCommand(): Command {
  const status = clusterCommand('status', 'show what is managed, what is in trouble and what ends next', runStatus)
    .option('-n, --namespace <name>', 'only what is in this namespace (default: all namespaces)')
    .addOption(outputOption())
    .option('-w, --watch', 'show changes as they happen, until Ctrl-C')
  return withHelp(status, {
    examples: [
      { term: 'tenure status -w', meaning: 'Follow what is in trouble and what ends next.' },
      { term: 'tenure status -n shops -o json', meaning: 'Print the state of a namespace for programs.' },
    ],
  })
}
