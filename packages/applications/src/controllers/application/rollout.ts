import type { Stored } from '@tenure/kube'
import type { Deployment, Job, Pod } from '@tenure/kube/kinds'
import { ANNOTATIONS, type Application } from '../../api/index.ts'
import { podRevision } from './children/index.ts'
import type { Observed } from './plan.ts'
import { hasCondition, isOver } from './run-once.ts'
import { type Trouble, troubleOf } from './pod-failure.ts'

/** How far a workload is. */
export interface Rollout {
  /** `done`: as wanted and ready. `finished`: ran once, to its end. */
  readonly state: 'going' | 'running' | 'done' | 'finished' | 'failed'
  /** In one word. */
  readonly reason: string
  readonly message: string
  readonly replicas: number
  readonly readyReplicas: number
}

/** How far the workload of an Application is, from what is seen of it. */
export function rolloutOf(application: Stored<Application>, observed: Observed): Rollout {
  const trouble = currentTrouble(application, observed)
  return application.spec.run === 'Once'
    ? runOnce(application, observed.job, trouble)
    : deployment(application, observed.deployment, trouble)
}

function deployment(
  { metadata, spec }: Stored<Application>,
  live: Stored<Deployment> | undefined,
  trouble: Trouble | undefined,
): Rollout {
  const {
    conditions = [],
    observedGeneration = 0,
    readyReplicas = 0,
    replicas = 0,
    updatedReplicas = 0,
  } = live?.status ?? {}
  const counts = { replicas, readyReplicas }
  const wanted = spec.autoscaling ? (live?.spec?.replicas ?? 1) : spec.replicas
  const message = `${readyReplicas} of ${wanted} replicas are ready.`
  const going = { ...counts, state: 'going', reason: 'RolloutInProgress', message } as const
  if (!live || live.metadata.deletionTimestamp) {
    return { ...going, message: `Deployment ${metadata.name} is being made.` }
  }
  // What it says is about an earlier description of it.
  if (observedGeneration < (live.metadata.generation ?? 0)) return going
  if ([updatedReplicas, replicas, readyReplicas].every((count) => count === wanted)) {
    return { ...counts, state: 'done', reason: 'NewReplicaSetAvailable', message }
  }
  if (trouble?.isFatal) return { ...counts, state: 'failed', reason: trouble.reason, message: trouble.message }
  const refused = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  const stuck = conditions.find(({ type, status }) => type === 'Progressing' && status === 'False')
  const failure = refused ?? stuck
  if (failure) {
    const reason = failure.reason || failure.type
    return { ...counts, state: 'failed', reason, message: failure.message || `The rollout failed: ${reason}.` }
  }
  return trouble ? { ...going, reason: trouble.reason, message: trouble.message } : going
}

function runOnce(
  application: Stored<Application>,
  live: Stored<Job> | undefined,
  trouble: Trouble | undefined,
): Rollout {
  const { metadata, spec, status } = application
  const { active = 0, conditions = [], ready = 0, succeeded = 0 } = live?.status ?? {}
  const counts = { replicas: active, readyReplicas: ready }
  const message = `${succeeded} of ${spec.replicas} runs have finished.`
  const going = { ...counts, state: 'going', reason: 'RunInProgress', message } as const
  if (isOver(application, live)) {
    const over = `${spec.replicas} of ${spec.replicas} runs have finished.`
    return { replicas: 0, readyReplicas: 0, state: 'finished', reason: 'RunCompleted', message: over }
  }
  if (!live || live.metadata.deletionTimestamp) return { ...going, message: `Job ${metadata.name} is being made.` }
  if (hasCondition(live, 'Complete')) return { ...counts, state: 'finished', reason: 'RunCompleted', message }
  const failure = conditions.find(({ type, status }) => type === 'Failed' && status === 'True')
  if (failure) {
    const reason = failure.reason || 'RunFailed'
    return { ...counts, state: 'failed', reason, message: failure.message || `The run failed: ${reason}.` }
  }
  if (trouble?.isFatal) return { ...counts, state: 'failed', reason: trouble.reason, message: trouble.message }
  // Between the end of the last pod and that of the Job it still runs.
  const hasRun = status?.phase === 'Running' && status.observedGeneration === metadata.generation
  if (ready > 0 || succeeded > 0 || hasRun) return { ...going, state: 'running' }
  return trouble ? { ...going, reason: trouble.reason, message: trouble.message } : going
}

/** The trouble of a pod of the present description: the worst, of the first by name. Pods of earlier ones are on their way out. */
function currentTrouble(application: Stored<Application>, { troubled }: Observed): Trouble | undefined {
  if (troubled.length === 0) return undefined
  const revision = podRevision(application.metadata.name, application.spec)
  const troubles = troubled
    .filter(({ metadata }) => metadata.annotations?.[ANNOTATIONS.revision] === revision)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((pod: Pod) => troubleOf(pod))
    .filter((trouble) => trouble !== undefined)
  return troubles.find(({ isFatal }) => isFatal) ?? troubles[0]
}
