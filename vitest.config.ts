import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Clusters of `npm run test:cluster`, each with a worker: many of its tests wait for times to pass. */
const CLUSTERS = 2
/** A cluster that is given, or a single test, needs one worker. */
const hasOneCluster = process.env['TENURE_TEST_KUBECONFIG'] || process.env['TENURE_TEST_CLUSTERS'] === '1'

export default defineConfig({
  test: {
    // Vitest leaves one processor free, which on a machine with two is half of it.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'test/house/**/*.test.ts',
            'test/chart/**/*.test.ts',
            'test/docs/**/*.test.ts',
            'test/seeds/**/*.test.ts',
            'test/packages/**/*.test.ts',
            'test/operators/**/*.test.ts',
            'test/hostile/**/*.test.ts',
            'test/engines/**/*.test.ts',
            'test/browser/**/*.test.ts',
            'test/image/**/*.test.ts',
            'test/gotemplate/recorded.test.ts',
          ],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'cluster',
          include: [
            'test/cluster/**/*.test.ts',
            'test/differential/**/*.test.ts',
            'test/kubectl/**/*.test.ts',
            'test/gotemplate/oracle.test.ts',
            'test/operators/**/*.test.ts',
          ],
          // These tests run only on floors without a cluster.
          exclude: ['test/operators/**/*.embedded.test.ts'],
          globalSetup: ['test/cluster/global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: hasOneCluster ? 1 : CLUSTERS,
        },
      },
    ],
  },
})
