/** Starts one cluster for a run of the `cluster` tests. Tests use it with `inject('kubeconfig')` and `openCluster`. */
import path from 'node:path'

import type { TestProject } from 'vitest/node'

import { startCluster } from './cluster.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the admin's kubeconfig. */
    kubeconfig: string
  }
}

/** If `TENURE_TEST_KUBECONFIG` names a cluster, it is used and left running. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['TENURE_TEST_KUBECONFIG']
  if (given) {
    project.provide('kubeconfig', path.resolve(given))
    return undefined
  }
  const cluster = await startCluster()
  project.provide('kubeconfig', cluster.kubeconfig)
  return () => cluster.stop()
}
