import { type DbCliContext, type DbCliOptions, type DbCommand, dbCommands } from '@tenure/databases/cli'
import { systemClock, systemRandom } from '@tenure/kube'
import { terminalOf } from '@tenure/runtime/cli'
import { Command, Option } from 'commander'
import { type CommandExamples, withHelp } from '../cli/command-help.ts'

const EXAMPLES = [
  { term: 'tenure db create orders --type postgresql', meaning: 'Create a database and wait until it runs.' },
  { term: 'tenure db show orders', meaning: 'Show its address, its jobs and its audit trail.' },
]

const SUBCOMMAND_EXAMPLES: CommandExamples = {
  create: [
    {
      term: 'tenure db create orders --type postgresql --storage 10Gi',
      meaning: 'Create a database and wait until it runs.',
    },
    {
      term: 'tenure db create cache --type redis --no-wait',
      meaning: 'Write the row, and let the operator do the rest.',
    },
  ],
  list: [{ term: 'tenure db list --team payments', meaning: 'List the databases of a team.' }],
  show: [{ term: 'tenure db show orders', meaning: 'Show its address, its jobs and its audit trail.' }],
  scale: [{ term: 'tenure db scale orders --replicas 3', meaning: 'Run three pods.' }],
  set: [{ term: 'tenure db set orders storage_size=20Gi', meaning: 'Grow its volumes.' }],
  pause: [{ term: 'tenure db pause orders', meaning: 'Stop its pods for the night.' }],
  resume: [{ term: 'tenure db resume orders', meaning: 'Start them again.' }],
  delete: [{ term: 'tenure db delete orders --delete-data', meaning: 'Delete it with its volumes.' }],
}

/** The commands `tenure db create`, `list`, `show`, `scale`, `set`, `pause`, `resume` and `delete`. */
export function dbCommand(): Command {
  const db = new Command('db').description('Create, show and change databases.').enablePositionalOptions()
  for (const { arguments: operands, name, options, run, summary } of dbCommands) {
    const command = db.command(name).description(summary)
    for (const { name: argument, meaning, isVariadic = false } of operands)
      command.argument(`<${argument}${isVariadic ? '...' : ''}>`, meaning)
    addOptions(command, options)
    withHelp(command, { examples: SUBCOMMAND_EXAMPLES[name] })
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
    terminal: terminalOf(process.stdout, process.env),
    write: (text) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    warn: (text) => void process.stderr.write(text.endsWith('\n') ? text : `${text}\n`),
  }
}
