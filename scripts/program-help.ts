import { parseArgs, type ParseArgsConfig } from 'node:util'
import { type HelpPage, printHelp } from '@tenure/runtime/cli'

/** Prints the help of a program and ends it, if `--help` or `-h` is among its arguments. */
export function helpIfAsked(page: HelpPage): void {
  const words = process.argv.slice(2)
  const end = words.indexOf('--')
  if (!words.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h')) return
  const options = [...(page.options ?? []), { term: '-h, --help', meaning: 'Print this help.' }]
  process.stdout.write(printHelp({ ...page, options }, process.stdout.columns))
  process.exit(0)
}

/** The arguments of a program. Prints its help if it is asked for, and ends with 2 if an argument is wrong. */
export function programArguments<const T extends ParseArgsConfig>(
  page: HelpPage,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  helpIfAsked(page)
  try {
    return parseArgs(config)
  } catch (error) {
    return usageExit(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
}

/** Reports wrong arguments in one line. */
export function usageExit(problem: string): never {
  process.stderr.write(`${problem.replace(/\.$/, '')}. See --help.\n`)
  process.exit(2)
}
