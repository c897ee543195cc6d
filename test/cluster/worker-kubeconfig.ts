/** Which of the clusters of a run a test uses. */
import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Paths of the admins' kubeconfigs, one for each worker. */
    kubeconfigs: readonly string[]
  }
}

/** The admin's kubeconfig of this worker's cluster: files that run at the same time do not share one. */
export function workerKubeconfig(): string {
  const kubeconfig = workerKubeconfigIfAny()
  if (kubeconfig === undefined) throw new Error('These tests need a cluster: npm run test:cluster')
  return kubeconfig
}

/** Undefined outside of `npm run test:cluster`. */
export function workerKubeconfigIfAny(): string | undefined {
  const kubeconfigs = inject('kubeconfigs') as readonly string[] | undefined
  // Vitest numbers the workers from 1.
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 1) - 1
  return kubeconfigs?.[worker % kubeconfigs.length]
}
