/** Runs the example of the docs as one of several replicas: probes on any free port, and the given Lease. */
import './end-with-parent.ts'

import { createLogger, type LeaderElectionSettings, manager } from '@tenure/runtime'

import { websites } from '../../../docs/examples/websites.ts'

const leaderElection = JSON.parse(process.argv[2] ?? '{}') as LeaderElectionSettings
const log = await createLogger({ format: 'text' })
await manager({ name: 'websites', controllers: [websites], leaderElection, probes: '127.0.0.1:0', log }).run()
