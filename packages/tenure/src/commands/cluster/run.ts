import { type ConnectionConfig, ConnectionError, asError, explainStartupFailure, TenureError } from '@tenure/kube'
import { exitCodeOf } from '../../cli/exit-codes.ts'

/** Invalid input of a command. */
export function argumentError(message: string, cause?: unknown): TenureError {
  return new TenureError('TENURE_COMMAND_ARGUMENT', message, { cause })
}

/** One line for people, and the exit code. */
export function describeCommandFailure(
  error: unknown,
  config: ConnectionConfig | undefined,
): { readonly message: string; readonly code: number } {
  const code = exitCodeOf(error)
  if (config === undefined) return { message: asError(error).message, code }
  if (!(error instanceof ConnectionError)) return { message: explainStartupFailure(error, config), code }
  const where = error.message.includes(config.server) ? '' : `The API server ${config.server} cannot be used: `
  return { message: `${where}${error.message} (${config.origin}) Run tenure doctor.`, code }
}
