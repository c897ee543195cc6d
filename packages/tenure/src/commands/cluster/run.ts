import { type ConnectionConfig, ConnectionError, asError, explainStartupFailure, TenureError } from '@tenure/kube'

/** Exit codes of the commands that look at a cluster. */
export const EXIT_CODES = {
  ok: 0,
  /** Something failed, or is wrong. */
  failed: 1,
  /** Invalid input. */
  usage: 2,
} as const

const ARGUMENT = 'TENURE_COMMAND_ARGUMENT'

/** Invalid input of a command. */
export function argumentError(message: string, cause?: unknown): TenureError {
  return new TenureError(ARGUMENT, message, { cause })
}

/** One line for people, and the exit code. */
export function describeCommandFailure(
  error: unknown,
  config: ConnectionConfig | undefined,
): { readonly message: string; readonly code: number } {
  const code = error instanceof TenureError && error.code === ARGUMENT ? EXIT_CODES.usage : EXIT_CODES.failed
  if (config === undefined) return { message: asError(error).message, code }
  if (!(error instanceof ConnectionError)) return { message: explainStartupFailure(error, config), code }
  const where = error.message.includes(config.server) ? '' : `The API server ${config.server} cannot be used: `
  return { message: `${where}${error.message} (${config.origin}) Run tenure doctor.`, code }
}
