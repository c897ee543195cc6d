import type { Stored } from '@tenure/kube'
import type { Job } from '@tenure/kube/kinds'
import type { Application } from '../../api/index.ts'

/**
 * Whether a run `Once` has completed and the spec has not changed since. It never runs again then: neither when its Job is
 * deleted, nor when a later version of the operator describes the Job differently. The status of an existing Job takes
 * precedence over the status of the Application.
 */
export function isFinished({ metadata, spec, status }: Stored<Application>, job: Stored<Job> | undefined): boolean {
  if (spec.run !== 'Once' || status?.phase !== 'Succeeded') return false
  if (status.observedGeneration !== metadata.generation) return false
  return !job || job.metadata.deletionTimestamp !== undefined || hasCondition(job, 'Complete')
}

export function hasCondition({ status }: Job, wanted: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === wanted && condition.status === 'True')
}
