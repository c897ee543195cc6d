import type { Stored } from '@tenure/kube'
import type { Job } from '@tenure/kube/kinds'
import type { Application } from '../../api/index.ts'

/**
 * Whether an Application that runs once has done so, and was not changed since. Then it never runs again: not when its
 * Job is cleared away, by hand or because such Jobs are kept for a time only, nor when a later operator would describe
 * the Job otherwise. What a Job that is there says counts for more than our report.
 */
export function isOver({ metadata, spec, status }: Stored<Application>, job: Stored<Job> | undefined): boolean {
  if (spec.run !== 'Once' || status?.phase !== 'Succeeded') return false
  if (status.observedGeneration !== metadata.generation) return false
  return !job || job.metadata.deletionTimestamp !== undefined || hasCondition(job, 'Complete')
}

export function hasCondition({ status }: Job, wanted: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === wanted && condition.status === 'True')
}
