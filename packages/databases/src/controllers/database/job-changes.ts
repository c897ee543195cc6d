import { type Action, describeAction } from '@tenure/runtime'
import type { AuditAction, FieldChange, JobChange, JobType, LiveJob, ResourceRow } from '../../api/rows.ts'
import type { ConvergePlan } from './plan.ts'

const AUDIT_ACTIONS: Readonly<Record<JobType, AuditAction>> = {
  create: 'resource.created',
  update: 'resource.updated',
  scale: 'resource.scaled',
  delete: 'resource.deleted',
}

/** The failure of this generation is known to its owner: later tries go on without another job. */
export function isReported({ generation, lastJob }: ResourceRow): boolean {
  return lastJob?.status === 'failed' && lastJob.generation === generation
}

export function completedJob(job: LiveJob): JobChange {
  return { type: 'complete', job, log: ['done'], audit: AUDIT_ACTIONS[job.type] }
}

/** Of a drift, the owner of the row recognizes only which objects it concerned. */
export function changesOf({ changes }: ConvergePlan, pending: readonly Action[]): readonly FieldChange[] {
  if (changes.length > 0) return changes
  return pending.map((action) => ({ field: describeAction(action), from: 'differs', to: 'applied' }))
}

/** A line for the log of the job. */
export function changeLine({ field, from, to }: FieldChange): string {
  return `${field}: ${from === undefined ? '' : `${JSON.stringify(from)} → `}${JSON.stringify(to)}`
}
