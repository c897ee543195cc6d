import { type DbCliContext, type DbCliOptions, type DbCommand, dbCommands } from '@tenure/databases/cli'
import { systemClock, systemRandom } from '@tenure/kube'
import { Command, Option } from 'commander'

/** The exit code of an invalid command line. */
const USAGE_EXIT_CODE = 2

/** The commands `tenure db create`, `list`, `show`, `scale`, `set`, `pause`, `resume` and `delete`. */
export function dbCommand(): Command {
  const db = new Command('db')
    .description('create, show and change databases')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_EXIT_CODE))
    .enablePositionalOptions()
  for (const { arguments: operands, name, options, run, summary } of dbCommands) {
    const command = db.command(name).description(summary.replace(/\.$/, ''))
    for (const { name: argument, meaning, isVariadic = false } of operands)
      command.argument(`<${argument}${isVariadic ? '...' : ''}>`, meaning)
    addOptions(command, options)
    command.action(async () => {
      process.exitCode = await run(context(), command.args, command.opts<DbCliOptions>())
    })
  }
  return db
}

function addOptions(command: Command, options: DbCommand['options']): void {
  for (const { flags, meaning, isRepeatable = false } of options) {
    const option = new Option(flags, meaning)
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
