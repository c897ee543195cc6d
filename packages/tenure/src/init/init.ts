import path from 'node:path'
import { Command } from 'commander'
import { withHelp } from '../cli/command-help.ts'
import { say } from '../say.ts'
import { initOperator } from './init-operator.ts'

interface Options {
  readonly directory?: string
  readonly group: string
}

/** The command `tenure init operator`. */
export function initCommand(): Command {
  const init = new Command('init').description('Create the files of a new operator.')
  const operator = init
    .command('operator')
    .description('Create an operator package: a CRD, a controller, and a test on the embedded control plane.')
    .argument('<name>', 'Name of the operator and its kind: website, shop-window.')
    .option('--directory <path>', 'Folder to create. Default: the name, in the working directory.')
    .option('--group <domain>', 'API group of the kind.', 'example.dev')
    .action(async (name: string, { directory, group }: Options) => {
      const created = await initOperator({ name, group, directory })
      const shown = path.relative(process.cwd(), created.directory) || '.'
      say(`Created ${shown} with ${created.files.length} files:`)
      for (const file of created.files) say(`  ${file}`)
      say('\nTry next:')
      say(`  cd ${shown}`)
      if (!created.isInstalled) say('  npm install')
      say('  npm test       # on the embedded control plane')
      say('  npm run dev    # the operator, on a control plane of its own')
    })
  const examples = [
    { term: 'tenure init operator website', meaning: 'Create the folder website with an operator that runs at once.' },
  ]
  withHelp(operator, { examples })
  return withHelp(init, { examples })
}
