import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { status } from './status.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const program = new Command('tenure')
  .description('One Kubernetes operator for how long things live and what state they are kept in.')
  .version(manifest.version)
  .showSuggestionAfterError()

program
  .command('start')
  .description('show what this version brings, and the cluster that it would talk to')
  .action(async () => {
    process.stdout.write(await status(manifest.version, process.env))
  })

await program.parseAsync(process.argv)
