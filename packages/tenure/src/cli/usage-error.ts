import { TenureError } from '@tenure/kube'

/** Wrong words on a command line. The message says what to write instead. */
export function usageError(message: string): TenureError {
  return new TenureError('TENURE_USAGE', message)
}
