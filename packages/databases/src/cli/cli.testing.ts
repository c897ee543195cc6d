import { type Clock, systemClock, systemRandom } from '@tenure/kube'
import { dbCommands } from './commands.ts'
import type { DbCliContext, DbCliOptions } from './context.ts'

export interface DbCliResult {
  readonly code: number
  readonly output: string
  readonly progress: string
}

/** Runs a command of `tenure db` with an environment, and collects its output. */
export async function runDbCommand(
  environment: DbCliContext['environment'],
  [name = '', ...operands]: readonly string[],
  options: DbCliOptions = {},
  clock: Clock = systemClock,
  more: Partial<DbCliContext> = {},
): Promise<DbCliResult> {
  const command = dbCommands.find((candidate) => candidate.name === name)
  if (!command) throw new Error(`no command ${name}`)
  const output: string[] = []
  const progress: string[] = []
  const write = (text: string): void => void output.push(text)
  const warn = (text: string): void => void progress.push(text)
  const code = await command.run({ clock, random: systemRandom, environment, write, warn, ...more }, operands, options)
  return { code, output: output.join('\n'), progress: progress.join('\n') }
}
