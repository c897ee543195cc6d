import { Command, CommanderError } from 'commander'
import { readVersion } from '../build-info.ts'
import { namesArgument } from './names-argument.ts'
import { styled, withHelp } from './command-help.ts'
import type { CommandEntry, ServingEntry } from './entries.ts'
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts'

const SUMMARY = 'One Kubernetes operator for how long things live and what state they are kept in.'

export interface ProgramOptions {
  readonly entries: readonly CommandEntry[]
  /** `tenure`, or `kubectl tenure`. */
  readonly name: string
  /** The only command to load; the others have a name and a summary. Default: all. */
  readonly only?: string | undefined
}

/** The program with its commands, to parse a command line or to describe it. */
export async function createProgram({ entries, name, only }: ProgramOptions): Promise<Command> {
  const program = new Command(name)
    .description(SUMMARY)
    .version(readVersion(), '-V, --version', 'Print the version.')
    // Options after a command belong to it: `leases` has its own `--version`.
    .enablePositionalOptions()
  // Before the commands, which inherit its style.
  withHelp(styled(program), { examples: EXAMPLES })
  for (const entry of entries) {
    if (entry.kind === 'serving') addServing(program, entry, name)
    else if (only === undefined || entry.name === only)
      program.addCommand(styled(await entry.load()).summary(entry.summary))
    else program.command(entry.name).description(entry.summary)
  }
  const names = entries.map((entry) => entry.name)
  const topic = namesArgument('[command...]', 'The command, and its subcommand.', names)
  program.command('help').addArgument(topic).description('Print the help of a command.')
  return program
}

const EXAMPLES = [
  { term: 'tenure start', meaning: 'Run everything on this machine, with nothing installed.' },
  { term: 'tenure help lease set', meaning: 'Explain a command.' },
]

/** Runs a command line, and returns the exit code if the command did not set it itself. */
export async function runProgram(options: ProgramOptions, argv: readonly string[]): Promise<number | undefined> {
  const words = asHelpOption(argv, options.entries)
  const program = await createProgram({ ...options, only: words[0] ?? '' })
  try {
    checkHelpTopic(program, words)
    await program.parseAsync(words, { from: 'user' })
    return undefined
  } catch (error) {
    // It has printed its message, or help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage
    const { asError } = await import('@tenure/kube')
    process.stderr.write(`${asError(error).message}\n`)
    return exitCodeOf(error)
  }
}

/** `help lease set` and `lease help set` are `lease set --help`. */
function asHelpOption(argv: readonly string[], entries: readonly CommandEntry[]): readonly string[] {
  const isGroup = entries.some(({ kind, name }) => kind === 'commands' && name === argv[0])
  const at = isGroup ? 1 : 0
  return argv[at] === 'help' ? [...argv.toSpliced(at, 1), '--help'] : argv
}

/** Reports an unknown command before its `--help`, which would print that of its parent. */
function checkHelpTopic(program: Command, words: readonly string[]): void {
  let command = program
  for (const word of words) {
    if (word.startsWith('-') || command.commands.length === 0 || command.registeredArguments.length > 0) return
    const next = command.commands.find((candidate) => candidate.name() === word)
    // Rejects the word.
    if (!next) return void command.parse([word], { from: 'user' })
    command = next
  }
}

/** Its options are parsed, and its help is printed, by its table. */
function addServing(program: Command, { name, summary, load }: ServingEntry, as: string): void {
  const command = program.command(name).description(summary).helpOption(false)
  command.allowUnknownOption().allowExcessArguments()
  command.action(async () => (await load()).run(command.args, as))
}
