import type { KubeObject, Stored } from '@tenure/kube'

/** Set by the deployment controller on its ReplicaSets; stays on orphans. */
const REVISION = 'deployment.kubernetes.io/revision'

/**
 * Tells whether Kubernetes copied the annotations from an owner. They describe the owner's lease: writing to the copy
 * would fight the controller that copies, and the copy would expire although its owner was extended. An orphaned
 * ReplicaSet is kept as well.
 */
export function hasInheritedAnnotations(object: Stored<KubeObject>): boolean {
  const { apiVersion, kind, metadata } = object
  switch (kind) {
    case 'ReplicaSet':
      return metadata.annotations?.[REVISION] !== undefined || isControlledBy(object, 'Deployment')
    case 'ControllerRevision':
      // Only StatefulSets and DaemonSets create these.
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
