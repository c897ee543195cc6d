import { refTo, keyOf } from '@tenure/kube'
import { type Action, type Actions, call, event, patch, type PlanContext, remove } from '@tenure/runtime'
import type { PartialObjectMetadata } from '@tenure/kube'

import { EVENT_REASONS } from '../../api/reasons.ts'
import { formatTime } from '../../api/time.ts'
import type { Cleanup } from './cleanup/cleanup.ts'
import type { Leased, LeaseContext } from './context.ts'
import { datedExpiry, isReadyToDelete, type LeasePlan } from './plan.ts'
import { DELETING, DRY_RUN, hasStatus, invalidJobStatus, withFollowedGeneration } from './status.ts'
import type { DatedLease } from './terms.ts'

/** Pause before the object is read again for its deletion, after its cleanup. */
const AFTER_CLEANUP_MS = 10

/** When the lease of an object expires; undefined if its date is not written yet, or the object is kept for good. */
export function leaseExpiry(context: LeaseContext, object: Leased): number | undefined {
  const { clock, namespaces } = context
  if (!namespaces.has(object.metadata.namespace)) return undefined
  const plan = context.planOf(object, clock.now())
  return plan.lease && isKept(context, object, plan.lease) ? undefined : datedExpiry(plan)
}

/** Plans the end of an expired lease: a status, a cleanup job or the deletion. */
export function expireLease(
  context: LeaseContext,
  cleanup: Cleanup,
  { object, now }: Pick<PlanContext<PartialObjectMetadata>, 'object' | 'now'>,
): Actions {
  const { kind, namespaces, settings } = context
  namespaces.check()
  const plan = context.planOf(object, now)
  const { lease } = plan
  if (!lease) return []
  const { job, propagation } = lease
  if (settings.dryRun) return [statusAction(context, object, lease, DRY_RUN, dryRunActions(context, object))]
  if (job?.ok === false && job.onFailure === 'keep')
    return [statusAction(context, object, lease, invalidJobStatus(job.reason))]
  if (job?.ok && !isReadyToDelete(object, plan)) {
    const expired = { object, lease, config: job.config, now }
    return [
      call('run the cleanup job', async ({ requeueAfter, signal }) => {
        const step = await cleanup.step(keyOf(refTo(object)), expired, signal)
        if (step) requeueAfter(step === 'ready' ? AFTER_CLEANUP_MS : step.requeueAfter)
      }),
    ]
  }
  return [
    !job && isVisibleAfterDeletion(object, plan) && statusAction(context, object, lease, DELETING),
    remove(kind, object, { propagation, afterwards: deletedActions(context, object, lease) }),
  ]
}

/** Whether the object stays although its lease has expired, and shows so. */
function isKept({ settings }: LeaseContext, object: Leased, lease: DatedLease): boolean {
  if (settings.dryRun) return hasStatus(object, lease, DRY_RUN)
  const { job } = lease
  return job?.ok === false && job.onFailure === 'keep' && hasStatus(object, lease, invalidJobStatus(job.reason))
}

function statusAction(
  { kind }: LeaseContext,
  object: Leased,
  lease: DatedLease,
  status: string,
  afterwards: readonly Action[] = [],
): Action | undefined {
  if (hasStatus(object, lease, status)) return undefined
  const annotations = withFollowedGeneration(object, lease.family, {
    [lease.family.names.status]: status,
  })
  return patch(kind, object, { metadata: { annotations } }, { afterwards })
}

function dryRunActions(context: LeaseContext, object: Leased): readonly Action[] {
  const message = 'The lease has ended; the object would be deleted, but this is a dry run.'
  return [
    event({ type: 'Normal', reason: EVENT_REASONS.expired, message }),
    call('log the expiry', () => context.log.info('lease expired, object kept in a dry run', { ...refTo(object) })),
  ]
}

function deletedActions(
  { clock, log, metrics }: LeaseContext,
  object: Leased,
  { expireAt }: DatedLease,
): readonly Action[] {
  const message = `The lease ended at ${formatTime(expireAt)}; the object was deleted.`
  return [
    event({ type: 'Normal', reason: EVENT_REASONS.expired, message }),
    call('count the expired lease', () => {
      metrics.expired.inc()
      metrics.lateness.observe(Math.max(clock.now() - expireAt, 0) / 1_000)
      log.info('lease expired, object deleted', { ...refTo(object) })
    }),
  ]
}

/** Whether the object outlives its deletion for a while: then its status says why it is terminating. */
function isVisibleAfterDeletion({ metadata }: Leased, { lease }: LeasePlan): boolean {
  return (metadata.finalizers?.length ?? 0) > 0 || lease?.propagation !== 'Background'
}
