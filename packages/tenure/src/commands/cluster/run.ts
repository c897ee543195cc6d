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
  const isNamed = error.message.includes(config.server)
  const where = isNamed ? '' : `The API server ${config.server} (${config.origin}) cannot be used: `
  return { message: `${where}${error.message} Run tenure doctor.`, code }
}
