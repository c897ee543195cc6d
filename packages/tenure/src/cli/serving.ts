import { silentLogger, stopSignals } from '@tenure/runtime'
import { type HelpEntry, type HelpPage, printHelp } from '@tenure/runtime/cli'
import { type Configuration, helpPage, readConfiguration, type Table, type Values } from '@tenure/runtime/configuration'
import { SERVING_EXIT_CODES } from './exit-codes.ts'
import { inProgram, namedExamples } from './program-name.ts'

export interface ServingCommand {
  readonly configuration: Configuration<Table>
  readonly examples: readonly HelpEntry[]
  /** Reads the settings and runs until a signal. `name` is that of the program: `tenure`, or `kubectl tenure`. */
  run(argv: readonly string[], name: string): Promise<void>
}

export interface ServingOptions {
  readonly examples?: readonly HelpEntry[] | undefined
  /** Milliseconds after a signal at which the process ends in any case. Default: the manager's grace period decides. */
  readonly deadline?: number
}

/** Settings and what runs with them. */
export function configured<T extends Table>(
  configuration: Configuration<T>,
  run: (settings: Values<T>, signal: AbortSignal) => Promise<void>,
  { examples = [], deadline }: ServingOptions = {},
): ServingCommand {
  return {
    configuration,
    examples,
    async run(argv, name) {
      const named = { ...configuration, program: inProgram(configuration.program, name) }
      const loaded = await readConfiguration(named, { argv, environment: process.env })
      if (loaded.kind === 'help') {
        process.stdout.write(printHelp(servingPage(this, name), process.stdout.columns))
        return
      }
      // A terminal that closes takes its output with it; the stop must go on.
      for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
      const stop = stopSignals({ log: silentLogger, deadline })
      try {
        await run(loaded.values, stop.signal)
      } finally {
        stop.dispose()
      }
    },
  }
}

/** The help of a command with a table of settings. */
export function servingPage({ configuration, examples }: ServingCommand, name: string): HelpPage {
  const page = helpPage({ ...configuration, program: inProgram(configuration.program, name) })
  return { ...page, examples: namedExamples(examples, name), exitCodes: SERVING_EXIT_CODES }
}
