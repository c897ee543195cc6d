import { outputMeaning } from '@tenure/runtime/cli'
import type { Command } from 'commander'
import { withHelp } from '../cli/command-help.ts'
import { clusterCommand } from './cluster/command.ts'
import { runStatus } from './status/run-status.ts'

const EXAMPLES = [
  { term: 'tenure status', meaning: 'Show everything, in all namespaces.' },
  { term: 'tenure status -w', meaning: 'Keep the screen current.' },
]

/** The command `tenure status`. */
export function statusCommand(): Command {
  const command = clusterCommand('status', 'show what is managed, what is in trouble and what ends next', runStatus)
    .option('-n, --namespace <name>', 'only what is in this namespace (default: all namespaces)')
    .option('-o, --output <format>', outputMeaning())
    .option('-w, --watch', 'show changes as they happen, until Ctrl-C')
  return withHelp(command, { examples: EXAMPLES })
}
