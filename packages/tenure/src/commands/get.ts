import { outputMeaning } from '@tenure/runtime/cli'
import type { Command } from 'commander'
import { withHelp } from '../cli/command-help.ts'
import { clusterCommand } from './cluster/command.ts'
import { RESOURCE_VIEWS } from './get/resource-views.ts'
import { runGet } from './get/run-get.ts'

const EXAMPLES = [
  { term: 'tenure get databases', meaning: 'List the databases of the namespace.' },
  { term: 'tenure get all -A -o wide', meaning: 'List everything, with all columns.' },
]

/** The command `tenure get`. */
export function getCommand(): Command {
  const names = RESOURCE_VIEWS.map(({ names: [plural = ''] }) => plural).join(', ')
  const command = clusterCommand('get', 'list what is managed', runGet)
    .argument('<resource>', `${names}, or all`)
    .argument('[name]', 'show only this one')
    .option('-n, --namespace <name>', 'namespace (default: the one of the kubeconfig)')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <labels>', 'only objects with these labels, such as app=web')
    .option('-o, --output <format>', outputMeaning())
    .option('-w, --watch', 'show changes as they happen, until Ctrl-C')
  return withHelp(command, { examples: EXAMPLES })
}
