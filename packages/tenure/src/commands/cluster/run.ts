import { type ConnectionConfig, ConnectionError, asError, explainStartupFailure } from '@tenure/kube'
import { exitCodeOf } from '../../cli/exit-codes.ts'

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
