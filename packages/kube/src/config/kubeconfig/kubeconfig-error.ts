import { TenureError } from '../../errors/errors.ts'

/** What can be wrong with a configuration; the code is `TENURE_KUBECONFIG_` and this. */
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

/** A configuration that cannot work until somebody changes it. */
export function kubeconfigError(problem: KubeconfigProblem, sentence: string, cause?: unknown): TenureError {
  return new TenureError(`TENURE_KUBECONFIG_${problem}`, sentence, { cause })
}
