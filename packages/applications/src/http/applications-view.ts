import type { View } from '@tenure/http'
import { keyOf, type Stored } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import type { Informer, OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import { Application, GROUP } from '../api/index.ts'
import { applicationKey, childNames, MANAGED_SELECTOR } from '../controllers/application/children/index.ts'
import { applicationRow } from './application-row.ts'

const schema = z.object({
  id: z.string(),
  namespace: z.string(),
  name: z.string(),
  phase: z.string(),
  image: z.string(),
  /** As the spec or the autoscaler wants them. */
  replicas: z.int(),
  readyReplicas: z.int(),
  updatedReplicas: z.int(),
  strategy: z.string(),
  message: z.string(),
  createdAt: z.int(),
  conditions: z.array(
    z.object({
      type: z.string(),
      status: z.string(),
      reason: z.string(),
      message: z.string(),
      lastTransitionTime: z.string(),
    }),
  ),
  resourceVersion: z.string(),
})

export type ApplicationRow = z.output<typeof schema>

const resource = { group: GROUP, resource: Application.plural }

/** The Applications of a namespace, or of all, from the caches of the controller. */
export function applicationsView(
  { informers }: Pick<OperatorContext, 'informers'>,
  namespace: string | undefined,
): View<ApplicationRow> {
  const applications = informers.informer(Application, { namespace })
  const deployments = informers.informer(Deployment, { ...MANAGED_SELECTOR, namespace })
  return {
    name: 'applications',
    title: 'Applications',
    schema,
    resourceOf: () => resource,
    *rows() {
      for (const object of applications.cache.list()) yield applicationRow(object, deploymentOf(object, deployments))
    },
    row(id) {
      const object = applications.cache.getByKey(id)
      return object && applicationRow(object, deploymentOf(object, deployments))
    },
    subscribe(listener) {
      const options = { replay: false }
      const ends = [
        applications.subscribe(({ object }) => listener(keyOf(object.metadata)), options),
        deployments.subscribe(({ object }) => {
          const id = applicationKey(object.metadata)
          if (id !== undefined) listener(id)
        }, options),
      ]
      return () => ends.forEach((end) => end())
    },
  }
}

function deploymentOf(
  { metadata }: Stored<Application>,
  { cache }: Informer<Deployment>,
): Stored<Deployment> | undefined {
  return cache.get({ name: childNames(metadata.name).workload, namespace: metadata.namespace })
}
