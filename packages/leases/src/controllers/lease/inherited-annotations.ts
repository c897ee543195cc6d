import type { KubeObject, Stored } from '@tenure/kube'

/** The deployment controller's own, on each ReplicaSet it made: it stays when the Deployment goes and leaves it behind. */
const REVISION = 'deployment.kubernetes.io/revision'

/**
 * Kubernetes copies the annotations of some objects to others that it makes of them, some over and over: there they are
 * about the original. To answer them would be a quarrel without end, and would end a copy whose original was extended;
 * and who orphans a ReplicaSet wants to keep it.
 */
export function hasInheritedAnnotations(object: Stored<KubeObject>): boolean {
  const { apiVersion, kind, metadata } = object
  switch (kind) {
    case 'ReplicaSet':
      return metadata.annotations?.[REVISION] !== undefined || isControlledBy(object, 'Deployment')
    case 'ControllerRevision':
      // Of a StatefulSet or a DaemonSet: nobody else makes any.
      return apiVersion.startsWith('apps/')
    case 'EndpointSlice':
      return isControlledBy(object, 'Endpoints')
    default:
      return false
  }
}

function isControlledBy({ metadata }: Stored<KubeObject>, kind: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.kind === kind) ?? false
}
