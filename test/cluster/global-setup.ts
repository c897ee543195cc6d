/** Starts the clusters of a run of the `cluster` tests. Tests use theirs with `workerKubeconfig` and `openCluster`. */
import path from 'node:path'

import type { TestProject } from 'vitest/node'

import { findBinaries } from './binaries.ts'
import { startCluster } from './cluster.ts'
import { stderrProgress } from './progress.ts'

/** If `TENURE_TEST_KUBECONFIG` names a cluster, it is used and left running. Otherwise each worker gets a cluster. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['TENURE_TEST_KUBECONFIG']
  if (given) {
    project.provide('kubeconfigs', [path.resolve(given)])
    return undefined
  }
  // Builds the programs if they are missing.
  await findBinaries(stderrProgress)
  const clusters = await Promise.all(Array.from({ length: project.config.maxWorkers }, () => startCluster()))
  project.provide(
    'kubeconfigs',
    clusters.map(({ kubeconfig }) => kubeconfig),
  )
  return async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()))
  }
}
