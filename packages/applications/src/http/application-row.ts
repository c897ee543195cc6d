import { keyOf, type Stored } from '@tenure/kube'
import type { Deployment } from '@tenure/kube/kinds'
import { getCondition, parseTime } from '@tenure/runtime'
import { type Application, CONDITIONS } from '../api/index.ts'
import type { ApplicationRow } from './applications-view.ts'

/** An Application for readers. `live` is its Deployment. */
export function applicationRow(
  { metadata, spec, status = {} }: Stored<Application>,
  live: Stored<Deployment> | undefined,
): ApplicationRow {
  const { conditions = [] } = status
  const isCurrent = (live?.status?.observedGeneration ?? 0) >= (live?.metadata.generation ?? 0)
  return {
    id: keyOf(metadata),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    phase: status.phase ?? 'Pending',
    image: spec.image,
    replicas: (spec.autoscaling && live?.spec?.replicas) ?? spec.replicas,
    readyReplicas: status.readyReplicas ?? 0,
    // Until the Deployment controller has seen a change, its count is of the earlier revision.
    updatedReplicas: isCurrent ? (live?.status?.updatedReplicas ?? 0) : 0,
    strategy: spec.strategy ?? 'RollingUpdate',
    message: getCondition(conditions, CONDITIONS.ready)?.message ?? '',
    createdAt: parseTime(metadata.creationTimestamp) ?? 0,
    conditions: conditions.map(({ type, status: state, reason, message, lastTransitionTime }) => ({
      type,
      status: state,
      reason,
      message,
      lastTransitionTime,
    })),
    resourceVersion: metadata.resourceVersion,
  }
}
