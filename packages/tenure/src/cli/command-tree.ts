import type { HelpPage } from '@tenure/runtime/cli'
import type { Command, Option } from 'commander'
import { commandPage, optionsOf } from './command-help.ts'
import type { CommandEntry } from './entries.ts'
import { createProgram } from './program.ts'
import type { ServingCommand } from './serving.ts'

/** A command with its help and its words, for the reference and for shells. */
export interface CommandTree {
  /** Without the name of the program: `['lease', 'set']`. Empty for the program itself. */
  readonly path: readonly string[]
  readonly page: HelpPage
  readonly options: readonly OptionWords[]
  /** Known values of its arguments. */
  readonly argumentValues: readonly string[]
  readonly commands: readonly CommandTree[]
  /** It runs until it is stopped, and its options are settings. */
  readonly isServing: boolean
}

export interface OptionWords {
  /** `['-o', '--output']`. */
  readonly names: readonly string[]
  readonly meaning: string
  /** Undefined: it takes none. */
  readonly value?: OptionValue | undefined
}

/** Values that a shell can offer. */
export type OptionValue = { readonly choices: readonly string[] } | 'file' | 'text'

const HELP: OptionWords = { names: ['-h', '--help'], meaning: 'Print this help.' }
const FILE_PLACEHOLDERS = new Set(['path', 'file', 'directory'])

/** Loads all commands and returns them as a tree. */
export async function commandTree(entries: readonly CommandEntry[], name: string): Promise<CommandTree> {
  const program = await createProgram({ entries, name })
  const root = nodeOf(program, [])
  const commands: CommandTree[] = []
  for (const node of root.commands) {
    const entry = entries.find(({ name: candidate }) => candidate === node.path[0])
    commands.push(entry?.kind === 'serving' ? await servingNode(await entry.load(), entry.name, name) : node)
  }
  return { ...root, commands }
}

/** All commands of a tree, each before its subcommands. */
export function flattened(node: CommandTree): readonly CommandTree[] {
  return [node, ...node.commands.flatMap(flattened)]
}

function nodeOf(command: Command, path: readonly string[]): CommandTree {
  const options = optionsOf(command).filter(({ hidden }) => !hidden)
  return {
    path,
    page: commandPage(command),
    options: [...options.map(wordsOf), HELP],
    argumentValues: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    isServing: false,
    commands: command.commands.map((subcommand) => nodeOf(subcommand, [...path, subcommand.name()])),
  }
}

function wordsOf({ short, long, description, argChoices, flags, required, optional }: Option): OptionWords {
  const names = [short, long].filter((each) => each !== undefined)
  if (!required && !optional) return { names, meaning: description }
  const placeholder = /[<[](\w+)/.exec(flags)?.[1] ?? ''
  const plain = FILE_PLACEHOLDERS.has(placeholder) ? 'file' : 'text'
  return { names, meaning: description, value: argChoices ? { choices: argChoices } : plain }
}

async function servingNode(command: ServingCommand, word: string, name: string): Promise<CommandTree> {
  const { servingPage } = await import('./serving.ts')
  const options = command.configuration.rows.flatMap(({ key, option, flag }): readonly OptionWords[] => {
    const { meaning } = option
    if (flag === undefined) return []
    if (option.type === 'boolean')
      return [`--${flag}`, ...(option.default === true ? [`--no-${flag}`] : [])].map((each) => ({
        names: [each],
        meaning,
      }))
    const choices = option.type === 'string' ? option.choices : undefined
    const plain = /(?:File|Path|^data)$/.test(key) ? 'file' : 'text'
    return [{ names: [`--${flag}`], meaning, value: choices ? { choices } : plain }]
  })
  const config: OptionWords = { names: ['--config'], meaning: 'Settings file, YAML or JSON.', value: 'file' }
  return {
    path: [word],
    page: servingPage(command, name),
    options: [...options, config, HELP],
    argumentValues: [],
    commands: [],
    isServing: true,
  }
}
