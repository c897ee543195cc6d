import type { Command } from 'commander'
import type { ServingCommand } from './serving.ts'

// Nothing is loaded here: `tenure --help` reads these entries.

/** A command of `tenure`, which is loaded when it is used. */
export type CommandEntry = CommandsEntry | ServingEntry

/** A command of commander, or one with subcommands. */
export interface CommandsEntry {
  readonly kind: 'commands'
  readonly name: string
  /** A sentence. */
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** A command that runs until it is stopped. Its settings and its help come from its table. */
export interface ServingEntry {
  readonly kind: 'serving'
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<ServingCommand>
}

/** A command that ends by itself, or several in a group. */
export function commands(name: string, summary: string, load: () => Promise<Command>): CommandEntry {
  return { kind: 'commands', name, summary, load }
}

/** A command that runs until it is stopped. */
export function serving(name: string, summary: string, load: () => Promise<ServingCommand>): CommandEntry {
  return { kind: 'serving', name, summary, load }
}
