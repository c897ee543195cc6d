import type { DaemonSet, Deployment, Job, ReplicaSet, StatefulSet } from '@tenure/kube/kinds'
import { getCondition, isTrue } from '../actions/conditions.ts'
import { failed, type Readiness, ready, waiting } from './readiness.ts'

/** Whether the controller of a workload has seen its newest version. */
function isObserved(object: { metadata?: { generation?: number }; status?: { observedGeneration?: number } }): boolean {
  return (object.status?.observedGeneration ?? 0) >= (object.metadata?.generation ?? 0)
}

function counted(kind: string, isReady: boolean, have: number, want: number): Readiness {
  return isReady ? ready(`${kind} ready (${have}/${want})`) : waiting(`${kind} not ready (${have}/${want})`)
}

export function deploymentReadiness(object: Deployment): Readiness {
  const want = object.spec?.replicas ?? 1
  const have = object.status?.readyReplicas ?? 0
  const isAvailable = getCondition(object.status?.conditions, 'Available')?.status !== 'False'
  return counted('deployment', isObserved(object) && have >= want && isAvailable, have, want)
}

export function statefulSetReadiness(object: StatefulSet): Readiness {
  const want = object.spec?.replicas ?? 1
  const have = object.status?.readyReplicas ?? 0
  return counted('statefulset', isObserved(object) && have >= want, have, want)
}

export function replicaSetReadiness(object: ReplicaSet): Readiness {
  const want = object.spec?.replicas ?? 1
  const have = object.status?.readyReplicas ?? 0
  return counted('replicaset', isObserved(object) && have >= want, have, want)
}

export function daemonSetReadiness(object: DaemonSet): Readiness {
  const want = object.status?.desiredNumberScheduled ?? 0
  const have = object.status?.numberReady ?? 0
  return counted('daemonset', isObserved(object) && object.status !== undefined && have >= want, have, want)
}

export function jobReadiness({ spec, status }: Job): Readiness {
  if (isTrue(status?.conditions, 'Failed')) {
    const { message = '', reason = '' } = getCondition(status?.conditions, 'Failed') ?? {}
    const details = [reason, message].filter(Boolean).join(': ')
    return failed(details ? `job failed (${details})` : 'job failed')
  }
  if (isTrue(status?.conditions, 'Complete')) return ready('job complete')
  return waiting(`job not complete (${status?.succeeded ?? 0}/${spec?.completions ?? 1})`)
}
