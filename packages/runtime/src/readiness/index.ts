import type { KubeObject } from '@tenure/kube'
import type { PersistentVolumeClaim, Service } from '@tenure/kube/kinds'
import { asArray, asJsonObject, valueAtPath } from '@tenure/kube/model'
import { podReadiness } from './pod.ts'
import { type Readiness, ready, waiting } from './readiness.ts'
import {
  daemonSetReadiness,
  deploymentReadiness,
  jobReadiness,
  replicaSetReadiness,
  statefulSetReadiness,
} from './workloads.ts'

export type { Readiness } from './readiness.ts'

/** By apiVersion and kind, which say what the object is. */
const RULES: Readonly<Record<string, (object: KubeObject) => Readiness>> = {
  'v1 Pod': podReadiness,
  'apps/v1 Deployment': deploymentReadiness,
  'apps/v1 StatefulSet': statefulSetReadiness,
  'apps/v1 ReplicaSet': replicaSetReadiness,
  'apps/v1 DaemonSet': daemonSetReadiness,
  'batch/v1 Job': jobReadiness,
  'v1 PersistentVolumeClaim': volumeReadiness,
  'v1 Service': serviceReadiness,
}

/** Whether an object is ready, as its status says. Undefined: it does not exist. */
export function readinessOf(object: KubeObject | undefined): Readiness {
  if (!object) return waiting('not created yet')
  if (object.metadata?.deletionTimestamp) return waiting('being deleted')
  const rule = RULES[`${object.apiVersion} ${object.kind}`]
  return rule ? rule(object) : conditionReadiness(object)
}

function volumeReadiness({ status }: PersistentVolumeClaim): Readiness {
  return status?.phase === 'Bound' ? ready('volume bound') : waiting(`volume phase=${status?.phase ?? 'Pending'}`)
}

function serviceReadiness({ spec, status }: Service): Readiness {
  if (spec?.type !== 'LoadBalancer') return ready('resource exists')
  const hasAddress = (status?.loadBalancer?.ingress ?? []).length > 0
  return hasAddress ? ready('load balancer ready') : waiting('load balancer has no address')
}

/** A condition Ready or Available decides; an object without one is ready when it exists. */
function conditionReadiness(object: KubeObject): Readiness {
  for (const type of ['Ready', 'Available']) {
    const condition = asArray(valueAtPath(object, 'status', 'conditions'))
      .map(asJsonObject)
      .find((each) => each['type'] === type)
    if (!condition) continue
    if (condition['status'] === 'True') return ready(`condition ${type} is true`)
    const reason = typeof condition['reason'] === 'string' ? ` (${condition['reason']})` : ''
    return waiting(`condition ${type} is not true${reason}`)
  }
  return ready('resource exists')
}
