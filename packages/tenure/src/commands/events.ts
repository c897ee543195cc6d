import type { Command } from 'commander'
import { withHelp } from '../cli/command-help.ts'
import { outputOption } from '../cli/output-option.ts'
import { clusterCommand } from './cluster/command.ts'
import { runEvents } from './events/run-events.ts'

const EXAMPLES = [
  { term: 'tenure events -A --since 10m', meaning: 'Show the events of the last ten minutes.' },
  { term: 'tenure events --type Warning -w', meaning: 'Wait for warnings.' },
]

/** The command `tenure events`. */
export function eventsCommand(): Command {
  const command = clusterCommand('events', 'show events about what is managed, newest last', runEvents)
    .option('-n, --namespace <name>', 'namespace (default: the one of the kubeconfig)')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('--kind <kind>', 'only about objects of this kind, such as Pod')
    .option('--name <name>', 'only about objects of this name')
    .option('--type <type>', 'only Normal or Warning')
    .option('--since <duration>', 'only those of this last time, such as 10m')
    .addOption(outputOption())
    .option('-w, --watch', 'show events as they come, until Ctrl-C')
  return withHelp(command, { examples: EXAMPLES })
}
