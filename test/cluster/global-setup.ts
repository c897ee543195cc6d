/** One cluster for a whole run of the `cluster` tests. Tests get at it with `inject('kubeconfig')` and `openCluster`. */
import path from 'node:path'

import type { TestProject } from 'vitest/node'

import { startCluster } from './cluster.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the admin's kubeconfig. */
    kubeconfig: string
  }
}

/** `TENURE_TEST_KUBECONFIG` names the cluster to use instead; that one is left running. */
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
