import type { Condition, Stored } from '@tenure/kube'
import { getCondition, setCondition } from '@tenure/runtime'
import { type Application, type ApplicationStatus, CONDITIONS, type Phase, REASONS } from '../../api/index.ts'
import { selectorText } from './children/index.ts'
import type { Rollout } from './rollout.ts'
import { isSameFailure } from '@tenure/kube/model'

const PHASE_OF = {
  progressing: 'Pending',
  running: 'Running',
  done: 'Running',
  finished: 'Succeeded',
  failed: 'Failed',
} as const satisfies Record<Rollout['state'], Phase>

/** Status of an Application for the progress of its workload. */
export function statusOf(application: Stored<Application>, rollout: Rollout, now: number): ApplicationStatus {
  const { reason, message } = stableReason(application, rollout)
  const isReady = rollout.state === 'done' || rollout.state === 'finished'
  return assemble(application, rollout, PHASE_OF[rollout.state], now, {
    ready: { status: isReady ? 'True' : 'False', reason: isReady ? 'ReconciliationSucceeded' : reason, message },
    progressing: {
      status: rollout.state === 'failed' ? 'False' : 'True',
      reason: rollout.state === 'progressing' || rollout.state === 'running' ? 'ReplicaSetUpdated' : reason,
      message,
    },
  })
}

/** Status of an Application whose reconcile failed. */
export function failedStatus(
  application: Stored<Application>,
  rollout: Rollout,
  message: string,
  now: number,
): ApplicationStatus {
  const failed = { status: 'False', reason: REASONS.reconciliationFailed, message } as const
  return assemble(application, rollout, 'Failed', now, { ready: failed, progressing: failed })
}

/** In characters. Errors of the API server repeat the refused value, which may be too long for a status. */
const MAX_MESSAGE_LENGTH = 1_000

function shortened(message: string): string {
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : message
}

type ConditionContent = Pick<Condition, 'status' | 'reason' | 'message'>

function assemble(
  { metadata, status }: Stored<Application>,
  { readyReplicas, replicas }: Rollout,
  phase: Phase,
  now: number,
  content: { readonly ready: ConditionContent; readonly progressing: ConditionContent },
): ApplicationStatus {
  const observedGeneration = metadata.generation ?? 1
  // Conditions of other writers are not part of the applied status.
  const condition = (type: string, next: ConditionContent): readonly Condition[] => {
    const before = getCondition(status?.conditions, type)
    const wanted = { type, ...next, message: shortened(next.message), observedGeneration }
    return setCondition(before && [before], wanted, now)
  }
  return {
    observedGeneration,
    replicas,
    readyReplicas,
    labelSelector: selectorText(metadata.name),
    phase,
    conditions: [
      ...condition(CONDITIONS.ready, content.ready),
      ...condition(CONDITIONS.progressing, content.progressing),
    ],
  }
}

/** One failure may alternate between reasons and messages: the first one reported is kept. */
function stableReason(
  { metadata, status }: Stored<Application>,
  rollout: Rollout,
): Pick<Rollout, 'reason' | 'message'> {
  const before = getCondition(status?.conditions, CONDITIONS.ready)
  const isSame =
    rollout.state === 'failed' &&
    status?.phase === 'Failed' &&
    before?.observedGeneration === metadata.generation &&
    before !== undefined &&
    isSameFailure(before.reason, rollout.reason)
  return isSame ? before : rollout
}
