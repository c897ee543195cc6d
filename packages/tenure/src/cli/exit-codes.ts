import type { HelpEntry } from '@tenure/runtime/cli'

export const EXIT_CODES = {
  ok: 0,
  /** Something failed, or is wrong. */
  failed: 1,
  /** Wrong options, arguments or settings; nothing was done. */
  usage: 2,
} as const

/** The exit codes of a command that ends by itself. */
export const COMMAND_EXIT_CODES: readonly HelpEntry[] = [
  { term: '0', meaning: 'The command succeeded.' },
  { term: '1', meaning: 'It failed; standard error says why.' },
  { term: '2', meaning: 'An option or an argument is wrong; nothing was done.' },
]

/** The exit codes of a command that runs until it is stopped. */
export const SERVING_EXIT_CODES: readonly HelpEntry[] = [
  { term: '0', meaning: 'A signal stopped it.' },
  { term: '1', meaning: 'It failed, or did not stop in time; standard error says why.' },
  { term: '2', meaning: 'An option or a setting is wrong; nothing was started.' },
  { term: '130', meaning: 'A second Ctrl-C ended it at once.' },
]

/** Codes of failures that the words of a command line, or the settings, cause. */
const USAGE_CODES = new Set<unknown>([
  'TENURE_COMMAND_ARGUMENT',
  'TENURE_CONFIGURATION_FILE',
  'TENURE_CONFIGURATION_INVALID',
  'TENURE_INIT_NAME',
  'TENURE_LEASE_ARGUMENT',
])

/** The exit code of a command that rejected with `error`. */
export function exitCodeOf(error: unknown): number {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return USAGE_CODES.has(code) ? EXIT_CODES.usage : EXIT_CODES.failed
}
