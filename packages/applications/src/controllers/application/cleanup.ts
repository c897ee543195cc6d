import { type Actions, event, hasFinalizer, type PlanContext, remove } from '@tenure/runtime'
import { type Application, REASONS } from '../../api/index.ts'
import { CHILD_KINDS } from './children/index.ts'
import { describeActions } from './describe-actions.ts'

/**
 * Removes the children. The garbage collector removes their pods, and children that the caches miss, by their owner
 * references. With the propagation policy Orphan the children stay.
 */
export function planCleanup({
  failures,
  object,
  owned,
}: Pick<PlanContext<Application>, 'failures' | 'object' | 'owned'>): Actions<Application> {
  const isOrphaning = hasFinalizer(object, 'orphan')
  const removals = isOrphaning
    ? []
    : CHILD_KINDS.flatMap((kind) => owned(kind).map((live) => remove(kind, live, { propagation: 'Background' })))
  const isFirstAttempt = removals.length > 0 && failures === 0
  const message = `Removing ${describeActions(removals)}.`
  return [
    isFirstAttempt && event({ type: 'Normal', reason: REASONS.cleanup, message }),
    ...removals,
    event({ type: 'Normal', reason: REASONS.deleted, message: 'Cleanup finished; the finalizer is removed.' }),
  ]
}
