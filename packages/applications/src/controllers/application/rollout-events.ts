import type { Stored } from '@tenure/kube'
import { event, type EventAction } from '@tenure/runtime'
import { type Application, type ApplicationSpec, isReported, REASONS } from '../../api/index.ts'

/** Whether the spec has not changed since the creation. */
export function isFirstGeneration({ metadata }: Stored<Application>): boolean {
  return (metadata.generation ?? 1) <= 1
}

/**
 * Events for the changes of the spec since the last report, which recorded its generation. A reconcile may see several
 * changes at once: each raises the generation by one and counts.
 */
export function announceUpdate(application: Stored<Application>): readonly EventAction[] {
  const { metadata, spec, status } = application
  if (!isReported(status) && isFirstGeneration(application)) return []
  const reported = isReported(status) ? (status?.observedGeneration ?? 1) : 1
  // At least one: a restored object may have a lower generation than its status.
  const count = Math.max((metadata.generation ?? 1) - reported, 1)
  const message = 'The spec was changed.'
  return [event({ type: 'Normal', reason: REASONS.updated, message, count }), announceRollout(spec)]
}

/** Says which replicas and image are being rolled out. */
export function announceRollout({ autoscaling, image, replicas, run }: ApplicationSpec): EventAction {
  const count = autoscaling ? `${autoscaling.minReplicas ?? 1} to ${autoscaling.maxReplicas}` : String(replicas)
  const [what, one] = run === 'Once' ? ['Starting', 'run'] : ['Rolling out', 'replica']
  const message = `${what} ${count} ${count === '1' ? one : `${one}s`} of ${image}.`
  return event({ type: 'Normal', reason: REASONS.reconciling, message })
}
