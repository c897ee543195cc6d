import type { Command } from 'commander'
import { withHelp } from '../cli/command-help.ts'
import { namesArgument } from '../cli/names-argument.ts'
import { outputOption } from '../cli/output-option.ts'
import { clusterCommand } from './cluster/command.ts'
import { RESOURCE_VIEWS } from './get/resource-views.ts'
import { runGet } from './get/run-get.ts'

/** The command `tenure get`. */
export function getCommand(): Command {
  const plurals = RESOURCE_VIEWS.map(({ names: [plural = ''] }) => plural)
  const names = plurals.join(', ')
  const get = clusterCommand('get', 'list what is managed', runGet)
    .addArgument(namesArgument('<resource>', `Any of ${names}, or all.`, [...plurals, 'all']))
    .argument('[name]', 'show only this one')
    .option('-n, --namespace <name>', 'namespace (default: the one of the kubeconfig)')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <labels>', 'only objects with these labels, such as app=web')
    .addOption(outputOption())
    .option('-w, --watch', 'show changes as they happen, until Ctrl-C')
  return withHelp(get, {
    examples: [
      { term: 'tenure get all -A', meaning: 'List everything that is managed.' },
      { term: 'tenure get leases -w', meaning: 'Follow what ends next.' },
      { term: 'tenure get databases orders -o yaml', meaning: 'Print one database for programs.' },
    ],
  })
}
