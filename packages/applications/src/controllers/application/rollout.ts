import type { Stored } from '@tenure/kube'
import type { Deployment, Job, Pod } from '@tenure/kube/kinds'
import { ANNOTATIONS, type Application } from '../../api/index.ts'
import { podRevision } from './children/index.ts'
import type { Observed } from './observed.ts'
import { hasCondition, isFinished } from './run-once.ts'
import { type PodFailure, podFailureOf } from '@tenure/kube/model'

/** Progress of a workload. */
export interface Rollout {
  /** `done`: as desired and ready. `finished`: a run `Once` completed. */
  readonly state: 'progressing' | 'running' | 'done' | 'finished' | 'failed'
  /** In UpperCamelCase. */
  readonly reason: string
  readonly message: string
  readonly replicas: number
  readonly readyReplicas: number
}

/** Progress of the workload of an Application. */
export function rolloutOf(application: Stored<Application>, observed: Observed): Rollout {
  const podFailure = currentPodFailure(application, observed)
  return application.spec.run === 'Once'
    ? runOnce(application, observed.job, podFailure)
    : deployment(application, observed.deployment, podFailure)
}

function deployment(
  { metadata, spec }: Stored<Application>,
  live: Stored<Deployment> | undefined,
  podFailure: PodFailure | undefined,
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
  const progressing = { ...counts, state: 'progressing', reason: 'RolloutInProgress', message } as const
  if (!live || live.metadata.deletionTimestamp) {
    return { ...progressing, message: `Deployment ${metadata.name} is being created.` }
  }
  // The status of the Deployment describes an earlier generation.
  if (observedGeneration < (live.metadata.generation ?? 0)) return progressing
  if ([updatedReplicas, replicas, readyReplicas].every((count) => count === wanted)) {
    return { ...counts, state: 'done', reason: 'NewReplicaSetAvailable', message }
  }
  if (podFailure?.isFatal) return { ...counts, state: 'failed', reason: podFailure.reason, message: podFailure.message }
  const refused = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  const stuck = conditions.find(({ type, status }) => type === 'Progressing' && status === 'False')
  const failure = refused ?? stuck
  if (failure) {
    const reason = failure.reason || failure.type
    return { ...counts, state: 'failed', reason, message: failure.message || `The rollout failed: ${reason}.` }
  }
  return podFailure ? { ...progressing, reason: podFailure.reason, message: podFailure.message } : progressing
}

function runOnce(
  application: Stored<Application>,
  live: Stored<Job> | undefined,
  podFailure: PodFailure | undefined,
): Rollout {
  const { metadata, spec, status } = application
  const { active = 0, conditions = [], ready = 0, succeeded = 0 } = live?.status ?? {}
  const counts = { replicas: active, readyReplicas: ready }
  const message = `${succeeded} of ${spec.replicas} runs have finished.`
  const progressing = { ...counts, state: 'progressing', reason: 'RunInProgress', message } as const
  if (isFinished(application, live)) {
    const over = `${spec.replicas} of ${spec.replicas} runs have finished.`
    return { replicas: 0, readyReplicas: 0, state: 'finished', reason: 'RunCompleted', message: over }
  }
  if (!live || live.metadata.deletionTimestamp)
    return { ...progressing, message: `Job ${metadata.name} is being created.` }
  if (hasCondition(live, 'Complete')) return { ...counts, state: 'finished', reason: 'RunCompleted', message }
  const failure = conditions.find(({ type, status }) => type === 'Failed' && status === 'True')
  if (failure) {
    const reason = failure.reason || 'RunFailed'
    return { ...counts, state: 'failed', reason, message: failure.message || `The run failed: ${reason}.` }
  }
  if (podFailure?.isFatal) return { ...counts, state: 'failed', reason: podFailure.reason, message: podFailure.message }
  // Between the end of the last pod and the completion of the Job the phase stays Running.
  const hasRun = status?.phase === 'Running' && status.observedGeneration === metadata.generation
  if (ready > 0 || succeeded > 0 || hasRun) return { ...progressing, state: 'running' }
  return podFailure ? { ...progressing, reason: podFailure.reason, message: podFailure.message } : progressing
}

/** Failure of a pod of the current revision: a fatal one if there is any, of the first pod by name. */
function currentPodFailure(application: Stored<Application>, { failingPods }: Observed): PodFailure | undefined {
  if (failingPods.length === 0) return undefined
  const revision = podRevision(application.metadata.name, application.spec)
  const failures = failingPods
    .filter(({ metadata }) => metadata.annotations?.[ANNOTATIONS.revision] === revision)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((pod: Pod) => podFailureOf(pod))
    .filter((podFailure) => podFailure !== undefined)
  return failures.find(({ isFatal }) => isFatal) ?? failures[0]
}
