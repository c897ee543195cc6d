import { type HelpEntry, type HelpPage, printHelp } from '@tenure/runtime/cli'
import type { Argument, Command, Help, Option } from 'commander'
import { COMMAND_EXIT_CODES } from './exit-codes.ts'
import { namedExamples } from './program-name.ts'

/** The help of a command beyond its arguments, options and subcommands. */
export interface CommandHelp {
  readonly examples?: readonly HelpEntry[] | undefined
  /** Default: 0, 1 and 2. */
  readonly exitCodes?: readonly HelpEntry[] | undefined
  /** Its options may also follow a subcommand, so the help of that lists them. Default false. */
  readonly sharesOptions?: boolean
}

/** Examples of the subcommands of a group, by name. */
export type CommandExamples = Readonly<Record<string, readonly HelpEntry[]>>

const helpOf = new WeakMap<Command, CommandHelp>()

/** Adds to the help of a command. */
export function withHelp(command: Command, help: CommandHelp): Command {
  helpOf.set(command, help)
  return command
}

/** Makes a command and its subcommands print help, and report wrong words, as all commands do. */
export function styled(command: Command): Command {
  command
    .helpOption('-h, --help', 'Print this help.')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ formatHelp: (of, helper) => printHelp(commandPage(of, helper), process.stdout.columns) })
    .configureOutput({ outputError: (text, write) => write(`${usageMessage(text, command)}\n`) })
  for (const subcommand of command.commands) styled(subcommand)
  return command
}

/** The help of a command of commander. */
export function commandPage(command: Command, helper: Help = command.createHelp()): HelpPage {
  const { examples = [], exitCodes = COMMAND_EXIT_CODES } = helpOf.get(command) ?? {}
  const options = optionsOf(command).filter(({ hidden }) => !hidden)
  const isRunnable = command.commands.length === 0 || command.registeredArguments.length > 0
  return {
    usage: helper.commandUsage(command),
    summary: sentence(command.description() || command.summary()),
    arguments: command.registeredArguments
      .filter(({ description }) => description)
      .map((argument) => ({ term: argument.name(), meaning: sentence(argument.description) })),
    commands: helper.visibleCommands(command).map((subcommand) => ({
      term: [subcommand.name(), ...subcommand.registeredArguments.map(argumentTerm)].join(' '),
      meaning: sentence(helper.subcommandDescription(subcommand)),
    })),
    options: [
      ...options.map((option) => ({ term: option.flags, meaning: optionMeaning(option) })),
      { term: '-h, --help', meaning: 'Print this help.' },
    ],
    examples: namedExamples(examples, rootOf(command).name()),
    ...(isRunnable && { exitCodes }),
    ...(!isRunnable && { note: `For more about a command: ${pathOf(command)} <command> --help` }),
  }
}

/** Its own options, and those of its parent that may follow it, without `--help`. */
export function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...sharedOptions(command)]
}

/** `tenure lease set`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command
}

function sharedOptions({ parent }: Command): readonly Option[] {
  return parent && helpOf.get(parent)?.sharesOptions === true ? parent.options : []
}

function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function optionMeaning({ description, defaultValue, defaultValueDescription, envVar }: Option): string {
  const shown = defaultValueDescription ?? (isShown(defaultValue) ? String(defaultValue) : '')
  const facts = [shown && `default ${shown}`, envVar].filter(Boolean).join('; ')
  return `${sentence(description)}${facts && ` (${facts})`}`
}

function isShown(value: unknown): value is string | number | true {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || value === true
}

/** Descriptions are printed as sentences. */
function sentence(text: string): string {
  const trimmed = text.trim()
  if (!trimmed) return ''
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}`.replace(/[^.!?]$/, '$&.')
}

/** One line from commander's message, with what to do. */
function usageMessage(text: string, command: Command): string {
  const [problem = '', suggestion = ''] = text.trim().split('\n')
  const advice = suggestion ? suggestion.replace(/^\((.*)\)$/, '$1') : `See ${pathOf(command)} --help.`
  return `${sentence(problem.replace(/^error: /, ''))} ${advice}`
}
