import type { KindTable } from '../common/kind-table.ts'
import { CONTROLLER_REVISIONS } from './controller-revision.ts'
import { DAEMON_SETS } from './daemon-set.ts'
import { DEPLOYMENTS } from './deployment.ts'
import { REPLICA_SETS } from './replica-set.ts'
import { STATEFUL_SETS } from './stateful-set.ts'

/** Kinds of the apps group. */
export const APPS: KindTable = {
  ...DEPLOYMENTS,
  ...REPLICA_SETS,
  ...STATEFUL_SETS,
  ...DAEMON_SETS,
  ...CONTROLLER_REVISIONS,
}
