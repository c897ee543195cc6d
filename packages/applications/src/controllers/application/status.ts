import type { Condition, Stored } from '@tenure/kube'
import { getCondition, setCondition } from '@tenure/runtime'
import { type Application, type ApplicationStatus, CONDITIONS, type Phase, REASONS } from '../../api/index.ts'
import { selectorText } from './children/index.ts'
import type { Rollout } from './rollout.ts'
import { isSameTrouble } from './pod-failure.ts'

const PHASE_OF = {
  going: 'Pending',
  running: 'Running',
  done: 'Running',
  finished: 'Succeeded',
  failed: 'Failed',
} as const satisfies Record<Rollout['state'], Phase>

/** The status of an Application whose workload is this far. */
export function statusOf(application: Stored<Application>, rollout: Rollout, now: number): ApplicationStatus {
  const { reason, message } = steady(application, rollout)
  const isReady = rollout.state === 'done' || rollout.state === 'finished'
  return assemble(application, rollout, PHASE_OF[rollout.state], now, {
    ready: { status: isReady ? 'True' : 'False', reason: isReady ? 'ReconciliationSucceeded' : reason, message },
    progressing: {
      status: rollout.state === 'failed' ? 'False' : 'True',
      reason: rollout.state === 'going' || rollout.state === 'running' ? 'ReplicaSetUpdated' : reason,
      message,
    },
  })
}

/** The status of an Application for which something could not be done. */
export function failedStatus(
  application: Stored<Application>,
  rollout: Rollout,
  message: string,
  now: number,
): ApplicationStatus {
  const failed = { status: 'False', reason: REASONS.reconciliationFailed, message } as const
  return assemble(application, rollout, 'Failed', now, { ready: failed, progressing: failed })
}

/** Of an account, in characters. The API server repeats what it refuses, however long, and would refuse that too. */
const LONGEST = 1_000

function shortened(message: string): string {
  return message.length > LONGEST ? `${message.slice(0, LONGEST - 1)}…` : message
}

type Said = Pick<Condition, 'status' | 'reason' | 'message'>

function assemble(
  { metadata, status }: Stored<Application>,
  { readyReplicas, replicas }: Rollout,
  phase: Phase,
  now: number,
  said: { readonly ready: Said; readonly progressing: Said },
): ApplicationStatus {
  const observedGeneration = metadata.generation ?? 1
  // Only ours: conditions that others have set stay theirs.
  const condition = (type: string, content: Said): readonly Condition[] => {
    const before = getCondition(status?.conditions, type)
    const next = { type, ...content, message: shortened(content.message), observedGeneration }
    return setCondition(before && [before], next, now)
  }
  return {
    observedGeneration,
    replicas,
    readyReplicas,
    labelSelector: selectorText(metadata.name),
    phase,
    conditions: [...condition(CONDITIONS.ready, said.ready), ...condition(CONDITIONS.progressing, said.progressing)],
  }
}

/** One failure goes by several names and sizes while it lasts: the first account of it stands. */
function steady({ metadata, status }: Stored<Application>, rollout: Rollout): Pick<Rollout, 'reason' | 'message'> {
  const before = getCondition(status?.conditions, CONDITIONS.ready)
  const isSame =
    rollout.state === 'failed' &&
    status?.phase === 'Failed' &&
    before?.observedGeneration === metadata.generation &&
    before !== undefined &&
    isSameTrouble(before.reason, rollout.reason)
  return isSame ? before : rollout
}
