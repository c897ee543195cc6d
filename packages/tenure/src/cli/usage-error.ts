import { TenureError } from '@tenure/kube'

/** Wrong words on a command line. The message says what to write instead. */
export function argumentError(message: string, cause?: unknown): TenureError {
  return new TenureError('TENURE_COMMAND_ARGUMENT', message, { cause })
}
