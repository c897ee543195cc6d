import { type DbCliContext, type DbCliOptions, type DbCommand, dbCommands } from '@tenure/databases/cli'
import { systemClock, systemRandom } from '@tenure/kube'
import { Command, Option } from 'commander'
import { withHelp } from '../cli/command-help.ts'

const EXAMPLES = [
  { term: 'tenure db create orders --type postgresql', meaning: 'Create a database and wait until it runs.' },
  { term: 'tenure db show orders', meaning: 'Show its address, its jobs and its audit trail.' },
]

/** The commands `tenure db create`, `list`, `show`, `scale`, `set`, `pause`, `resume` and `delete`. */
export function dbCommand(): Command {
  const db = new Command('db').description('Create, show and change databases.').enablePositionalOptions()
  for (const { arguments: operands, name, options, run, summary } of dbCommands) {
    const command = db.command(name).description(summary)
    for (const { name: argument, meaning, isVariadic = false } of operands)
      command.argument(`<${argument}${isVariadic ? '...' : ''}>`, meaning)
    addOptions(command, options)
    command.action(async () => {
      process.exitCode = await run(context(), command.args, command.opts<DbCliOptions>())
    })
  }
  return withHelp(db, { examples: EXAMPLES })
}

function addOptions(command: Command, options: DbCommand['options']): void {
  for (const { flags, meaning, choices, isRepeatable = false } of options) {
    const option = new Option(flags, meaning)
    if (choices) option.choices(choices)
    if (isRepeatable) option.argParser((value, before: readonly string[] | undefined) => [...(before ?? []), value])
    command.addOption(option)
  }
}

function context(): DbCliContext {
  return {
    clock: systemClock,
    random: systemRandom,
    environment: process.env,
    write: (text) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    warn: (text) => void process.stderr.write(text.endsWith('\n') ? text : `${text}\n`),
  }
}
