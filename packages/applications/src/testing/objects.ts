import type { KubeObject, Status, Stored, TransportResponse } from '@tenure/kube'
import type { ContainerStatus, Deployment, DeploymentStatus, Pod } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import { ANNOTATIONS, Application, type ApplicationSpec, type ApplicationStatus } from '../api/index.ts'
import { labelsOf, podRevision } from '../controllers/application/children/index.ts'
import { deploymentFor } from '../controllers/application/children/deployment.ts'
import type { Observed } from '../controllers/application/observed.ts'

export const NOW = Date.UTC(2026, 0, 1, 0, 1)

/** Adds the metadata of a stored object. */
export function stored<T extends KubeObject>(object: T, generation = 1): Stored<T> {
  const name = object.metadata?.name ?? 'unnamed'
  return {
    apiVersion: 'v1',
    kind: 'Object',
    ...object,
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation,
      ...object.metadata,
    },
  }
}

export const plainSpec: ApplicationSpec = { replicas: 3, image: 'nginx:latest', strategy: 'RollingUpdate' }

export function application(
  spec: Partial<ApplicationSpec> = {},
  status?: ApplicationStatus,
  generation = 1,
): Stored<Application> {
  const { apiVersion, kind } = Application
  const object = { apiVersion, kind, metadata: { name: 'shop' }, spec: { ...plainSpec, ...spec } }
  return stored(status ? { ...object, status } : object, generation)
}

/** The Deployment of an Application, as the controller applies it. */
export function deployment(spec: Partial<ApplicationSpec> = {}, status: DeploymentStatus = {}): Stored<Deployment> {
  return stored({
    ...deploymentFor('shop', { ...plainSpec, ...spec }),
    status: { observedGeneration: 1, ...status },
  })
}

/** All pods are updated and ready. */
export const all = (count: number): DeploymentStatus => ({
  replicas: count,
  updatedReplicas: count,
  readyReplicas: count,
  availableReplicas: count,
})

export function pod(
  name: string,
  container: Partial<ContainerStatus>,
  revision = podRevision('shop', plainSpec) ?? '',
): Stored<Pod> {
  return stored({
    metadata: { name, labels: labelsOf('shop'), annotations: { [ANNOTATIONS.revision]: revision } },
    status: {
      containerStatuses: [{ name: 'app', image: 'x', imageID: '', ready: false, restartCount: 0, ...container }],
    },
  })
}

export const waiting = (reason: string, message?: string): Partial<ContainerStatus> => ({
  state: { waiting: { reason, ...(message !== undefined && { message }) } },
})

export function observed(more: Partial<Observed> = {}): Observed {
  return { deployment: undefined, job: undefined, failingPods: [], owned: () => [], ...more }
}

/** An error of the API server with details. */
export function refusing(code: number, reason: string, message: string, details: Status['details']): TransportResponse {
  const answer = refuse(code, reason, message)
  const status = { kind: 'Status', status: 'Failure', code, reason, message, details }
  return { ...answer, body: { ...answer.body, text: () => Promise.resolve(JSON.stringify(status)) } }
}

/** Error of a create in a terminating namespace. */
export function refusingAsNamespaceEnds(): TransportResponse {
  const causes = [{ reason: 'NamespaceTerminating', message: 'it is being terminated', field: 'metadata.namespace' }]
  return refusing(403, 'Forbidden', 'unable to create new content in namespace default', { causes })
}
