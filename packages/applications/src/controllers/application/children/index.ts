import type { Kind, KubeObject } from '@tenure/kube'
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  PersistentVolumeClaim,
  Service,
} from '@tenure/kube/kinds'
import { ANNOTATIONS, type ApplicationSpec } from '../../../api/index.ts'
import { autoscalerFor } from './autoscaler.ts'
import { configMapFor } from './config-map.ts'
import { deploymentFor } from './deployment.ts'
import { ingressFor } from './ingress.ts'
import { isOutdated, jobFor } from './job.ts'
import { podTemplate } from './pod-template.ts'
import { serviceFor } from './service.ts'
import { volumeClaimFor } from './volume-claim.ts'

export { applicationKey, applicationOf, childNames, labelsOf, MANAGED_SELECTOR, selectorText } from './identity.ts'
export { isOutdated }

/** Kinds of children. */
export const CHILD_KINDS: readonly Kind[] = [
  ConfigMap,
  PersistentVolumeClaim,
  Service,
  Deployment,
  Job,
  HorizontalPodAutoscaler,
  Ingress,
]

/** A desired child. */
export interface Child<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>
  readonly object: T
}

/** Desired children, in order of dependency. `live` is the current Deployment. */
export function childrenFor(name: string, spec: ApplicationSpec, live?: Deployment): readonly Child[] {
  const isOnce = spec.run === 'Once'
  return [
    child(ConfigMap, configMapFor(name, spec)),
    child(PersistentVolumeClaim, volumeClaimFor(name, spec)),
    child(Service, serviceFor(name, spec)),
    isOnce ? child(Job, jobFor(name, spec)) : child(Deployment, deploymentFor(name, spec, live)),
    child(HorizontalPodAutoscaler, autoscalerFor(name, spec)),
    child(Ingress, ingressFor(name, spec)),
  ].filter((wanted) => wanted !== undefined)
}

/** Revision annotation of the pods of this spec. */
export function podRevision(name: string, spec: ApplicationSpec): string | undefined {
  const template = spec.run === 'Once' ? jobFor(name, spec).spec?.template : podTemplate(name, spec)
  return template?.metadata?.annotations?.[ANNOTATIONS.revision]
}

function child<T extends KubeObject>(kind: Kind<T>, object: T | undefined): Child | undefined {
  return object && { kind, object }
}
