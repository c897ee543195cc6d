/** Runs the example of the docs as one of several replicas: probes on any free port, and the given Lease. */
import './end-with-parent.ts'

import { configure, createLogger, defineOperator, type LeaderElectionOptions, runOperators } from '@tenure/runtime'
import { leaderElectionConfig } from '@tenure/runtime/configuration'

import { websites } from '../../../docs/examples/websites.ts'

interface WebsitesSettings extends LeaderElectionOptions {
  readonly lease: string
  readonly namespace: string
  readonly identity: string
}

const { lease, namespace, identity, ...leaderElection } = JSON.parse(process.argv[2] ?? '{}') as WebsitesSettings
const replica = defineOperator({
  name: websites.name,
  identity: { leaderLease: lease },
  config: leaderElectionConfig,
  setup: (context) => websites.setup({ ...context, settings: {} }),
})
const settings = { enableLeaderElection: true, leaderElectionNamespace: namespace, podName: identity }
const log = await createLogger({ format: 'text' })
await runOperators({ operators: [configure(replica, settings)], leaderElection, probes: '127.0.0.1:0', log })
