import { isatty } from 'node:tty'
import {
  type ClaimCliContext,
  type ClaimCliOptions,
  claimCommand as takeCommand,
  type ClaimCommand,
  claimSubcommands,
} from '@tenure/claims/cli'
import { systemClock } from '@tenure/kube'
import { Command, Option, type ParseOptionsResult } from 'commander'
import { withClaimsUrl } from '../start/claims-url.ts'

/** The exit code of an invalid command line. */
const USAGE_EXIT_CODE = 2

/** Keeps the words after `--` apart: they are a command to run, also if they begin like a subcommand. */
class CommandWithCommandLine extends Command {
  commandLine: readonly string[] | undefined

  override parseOptions(argv: string[]): ParseOptionsResult {
    const separator = argv.indexOf('--')
    if (separator === -1) return super.parseOptions(argv)
    this.commandLine = argv.slice(separator + 1)
    return super.parseOptions(argv.slice(0, separator))
  }
}

/** The commands `tenure claim`, and `renew`, `release`, `list` and `show`. */
export function claimCommand(): Command {
  const claim = new CommandWithCommandLine(takeCommand.name)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_EXIT_CODE))
    .enablePositionalOptions()
    .summary('take a claim, or run a command with one')
    .usage('[options] [-- command args...]')
    .argument('[operands...]', undefined)
  describe(claim, takeCommand)
  claim.action(async () => {
    const { commandLine } = claim
    const args = { operands: claim.args, commandLine }
    const options = claim.opts<ClaimCliOptions>()
    process.exitCode = await takeCommand.run(await context(options), args, options)
  })
  for (const subcommand of claimSubcommands) {
    const command = claim.command(subcommand.name)
    for (const { name, meaning } of subcommand.arguments) command.argument(`<${name}>`, meaning)
    describe(command, subcommand)
    command.action(async () => {
      const { url, token } = claim.opts<ClaimCliOptions>()
      const options = { url, token, ...command.opts<ClaimCliOptions>() }
      process.exitCode = await subcommand.run(await context(options), { operands: command.args }, options)
    })
  }
  return claim
}

function describe(command: Command, { summary, options }: ClaimCommand): void {
  command.description(summary.replace(/\.$/, ''))
  for (const { flags, meaning, isRepeatable = false } of options) {
    const option = new Option(flags, meaning)
    if (isRepeatable) option.argParser((value, before: readonly string[] | undefined) => [...(before ?? []), value])
    command.addOption(option)
  }
}

function warn(text: string): void {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
}

async function context({ url }: ClaimCliOptions): Promise<ClaimCliContext> {
  return {
    clock: systemClock,
    environment: await withClaimsUrl(process.env, { url, warn }),
    signals: process,
    isTerminal: [0, 1, 2].some((descriptor) => isatty(descriptor)),
    write: (text) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    warn,
  }
}
