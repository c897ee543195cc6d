import { TenureError } from '../../errors/errors.ts'

/** The problems of a configuration; the error code is `TENURE_KUBECONFIG_` and the problem. */
export type KubeconfigProblem =
  | 'NOT_FOUND'
  | 'UNREADABLE'
  | 'YAML'
  | 'INVALID'
  | 'CONTEXT'
  | 'CLUSTER'
  | 'USER'
  | 'FILE'
  | 'AUTH_PROVIDER'
  | 'IN_CLUSTER'

/** A configuration that must be changed by the user. */
export function kubeconfigError(problem: KubeconfigProblem, sentence: string, cause?: unknown): TenureError {
  return new TenureError(`TENURE_KUBECONFIG_${problem}`, sentence, { cause })
}
