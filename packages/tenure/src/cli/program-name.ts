import path from 'node:path'
import type { HelpEntry } from '@tenure/runtime/cli'

/** The command as its user types it: kubectl runs the program `kubectl-tenure` for `kubectl tenure`. */
export function programName(script = ''): string {
  return path.basename(script).startsWith('kubectl-tenure') ? 'kubectl tenure' : 'tenure'
}

/** A command line of `tenure` for a program of another name. */
export function inProgram(commandLine: string, name: string): string {
  return commandLine.replaceAll(/(?<![\w./-])tenure(?= |$)/g, name)
}

export function namedExamples(examples: readonly HelpEntry[], name: string): readonly HelpEntry[] {
  return examples.map(({ term, meaning }) => ({ term: inProgram(term, name), meaning }))
}
