import type { ResourceReport, ResourceRow, RowStatus } from '../../api/rows.ts'
import type { EngineName } from '../../engines/engine.ts'
import type { DatabaseNames } from '../../config/names.ts'
import { connectionInfo } from '../../objects/connection-info.ts'
import type { DatabaseRollout } from './rollout.ts'
import type { DatabaseState } from './state.ts'

export interface ReportInput {
  readonly row: ResourceRow
  readonly names: DatabaseNames
  readonly engine: EngineName
  readonly state: DatabaseState
  readonly rollout: DatabaseRollout
  readonly serviceName: string | undefined
  readonly secretName: string | undefined
}

/** The columns of a row whose database exists. */
export function reportOf(input: ReportInput): ResourceReport {
  const { engine, names, rollout, row, secretName, serviceName, state } = input
  const { pods, statefulSet } = state
  return {
    status: statusOf(row, rollout),
    namespace: names.namespace,
    resourceName: names.name,
    resourceType: 'StatefulSet',
    connectionInfo: {
      ...connectionInfo({ ...names, engine, statefulSet, pods, serviceName, secretName }),
      ...errorInfo(row, rollout.state === 'failing' ? rollout.reason : undefined),
    },
    ...(secretName !== undefined && {
      credentials: { secret_name: secretName, secret_namespace: names.namespace },
    }),
  }
}

/** The columns of a row that cannot be carried out. What runs stays as it is, and so does a pause. */
export function errorReport(row: ResourceRow, reason: string): ResourceReport {
  return {
    ...(row.status !== 'paused' && { status: 'error' }),
    connectionInfo: errorInfo(row, reason),
  }
}

/** `paused` is the platform's word, which stays until the platform resumes. */
function statusOf(row: ResourceRow, { state }: DatabaseRollout): RowStatus {
  if (row.status === 'paused') return 'paused'
  if (state === 'ready') return 'active'
  if (state === 'failing') return 'error'
  return row.job?.type === 'create' || row.observedGeneration === undefined ? 'provisioning' : 'updating'
}

/** The reason of the status, in `connection_info.error`; null once it is over, and absent if there never was one. */
export function errorInfo(
  { connectionInfo: known }: ResourceRow,
  reason: string | undefined,
): { error?: string | null } {
  if (reason !== undefined) return { error: reason }
  return known['error'] === undefined ? {} : { error: null }
}
