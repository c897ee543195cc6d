import { isatty } from 'node:tty'
import {
  type ClaimCliContext,
  type ClaimCliOptions,
  claimCommand as takeCommand,
  type ClaimCommand,
  claimSubcommands,
} from '@tenure/claims/cli'
import { systemClock } from '@tenure/kube'
import { terminalOf } from '@tenure/runtime/cli'
import { Command, Option, type ParseOptionsResult } from 'commander'
import { type CommandExamples, withHelp } from '../cli/command-help.ts'
import { COMMAND_EXIT_CODES } from '../cli/exit-codes.ts'
import { withClaimsUrl } from '../start/claims-url.ts'

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

const EXAMPLES = [
  { term: 'tenure claim --ttl 5m', meaning: 'Take a claim and print it.' },
  {
    term: 'tenure claim --pool chrome -- npm run e2e',
    meaning: 'Run a command with a claim, which is released after it.',
  },
  { term: 'eval "$(tenure claim -o env)"', meaning: 'Take a claim, with its values as variables of the shell.' },
]

const SUBCOMMAND_EXAMPLES: CommandExamples = {
  renew: [{ term: 'tenure claim renew k3v9x --ttl 10m', meaning: 'Keep a claim for ten more minutes.' }],
  release: [{ term: 'tenure claim release k3v9x', meaning: 'Delete a claim with everything that belongs to it.' }],
  list: [{ term: 'tenure claim list -o json', meaning: 'List claims and pools for programs.' }],
  show: [{ term: 'tenure claim show k3v9x', meaning: 'Show why a claim is not ready.' }],
}

/** With a command after `--` the exit code is that of the command, as with timeout(1) and docker run. */
const EXIT_CODES_WITH_COMMAND = [
  { term: '124', meaning: 'The claim was lost while the command after -- ran.' },
  { term: '125', meaning: 'No claim could be taken, so the command after -- did not run.' },
  { term: '126', meaning: 'The command after -- cannot be executed.' },
  { term: '127', meaning: 'The command after -- was not found.' },
  {
    term: 'other',
    meaning: 'The exit code of the command after --, or 128 and the number of the signal that ended it.',
  },
]

/** The commands `tenure claim`, and `renew`, `release`, `list` and `show`. */
export function claimCommand(): Command {
  const claim = new CommandWithCommandLine(takeCommand.name)
    .enablePositionalOptions()
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
    withHelp(command, { examples: SUBCOMMAND_EXAMPLES[subcommand.name] })
    command.action(async () => {
      const { url, token } = claim.opts<ClaimCliOptions>()
      const options = { url, token, ...command.opts<ClaimCliOptions>() }
      process.exitCode = await subcommand.run(await context(options), { operands: command.args }, options)
    })
  }
  return withHelp(claim, { examples: EXAMPLES, exitCodes: [...COMMAND_EXIT_CODES, ...EXIT_CODES_WITH_COMMAND] })
}

function describe(command: Command, { summary, options }: ClaimCommand): void {
  command.description(summary)
  for (const { flags, meaning, choices, isRepeatable = false } of options) {
    const option = new Option(flags, meaning)
    if (choices) option.choices(choices)
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
    follow: { terminal: terminalOf(process.stdout, process.env) },
    isTerminal: [0, 1, 2].some((descriptor) => isatty(descriptor)),
    write: (text) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    warn,
  }
}
