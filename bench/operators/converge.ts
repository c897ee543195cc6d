import { Application } from '@tenure/applications'
import { type Client, type Kind, type KubeObject, mergePatch, type Stored } from '@tenure/kube'
import { Deployment, Namespace } from '@tenure/kube/kinds'
import { inParallel } from '../programs/cluster.ts'
import { pause } from './operator-process.ts'

export const APPLICATIONS = 1_000
export const AT_ONCE = 16
const FINALIZER = 'example.dev/by-hand'

export const application = (name: string, namespace: string, replicas = 1): Application => ({
  apiVersion: Application.apiVersion,
  kind: Application.kind,
  metadata: { name, namespace },
  spec: { replicas, image: 'gcr.io/bench/web:1' },
})

const deployment = (name: string, namespace: string): Deployment => ({
  metadata: { name, namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'gcr.io/bench/web:1' }] },
    },
  },
})

export interface Converged {
  /** Milliseconds from the first create until all objects have converged. */
  readonly took: number
  readonly namespace: string
}

interface Work<T extends KubeObject> {
  /** The kind that shows the result. */
  readonly kind: Kind<T>
  create(name: string, namespace: string): Promise<unknown>
  isDone(object: Stored<T>): boolean
  /** Further work for a converged object. Default: none. */
  finish?(name: string, namespace: string): Promise<unknown>
}

async function converge<T extends KubeObject>(client: Client, work: Work<T>): Promise<Converged> {
  const namespace = await newNamespace(client)
  const { kind } = work
  const done = new Set<string>()
  const resourceVersion = (await client.list(kind, { namespace })).metadata.resourceVersion
  const failed = new AbortController()
  const fail = (error: unknown): void => failed.abort(error)
  const watching = client.watch(kind, { namespace, resourceVersion, signal: failed.signal })
  const finishing: Promise<unknown>[] = []
  const began = performance.now()
  const creating = inParallel(APPLICATIONS, AT_ONCE, (index) => work.create(`web-${index}`, namespace))
  creating.catch(fail)
  for await (const events of watching) {
    for (const event of events) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
      const { name } = event.object.metadata
      if (done.has(name) || !work.isDone(event.object)) continue
      done.add(name)
      const finished = work.finish?.(name, namespace)
      finished?.catch(fail)
      if (finished) finishing.push(finished)
    }
    if (done.size === APPLICATIONS) break
  }
  await Promise.all(finishing)
  const took = performance.now() - began
  await creating
  return { took, namespace }
}

export async function newNamespace(client: Client): Promise<string> {
  const { metadata } = await client.create(Namespace, { metadata: { generateName: 'bench-applications-' } })
  return metadata.name
}

/** Waits for the namespace to be gone, so that its deletion does not load the next measurement. */
export async function removeNamespace(client: Client, name: string): Promise<void> {
  await client.delete(Namespace, { name })
  while (
    await client.get(Namespace, { name }).then(
      () => true,
      () => false,
    )
  ) {
    await pause(200)
  }
}

const isAvailable = ({ status }: Stored<Deployment>): boolean => status?.availableReplicas === 1

export const convergeDeployments = (client: Client): Promise<Converged> =>
  converge(client, {
    kind: Deployment,
    create: (name, namespace) => client.create(Deployment, deployment(name, namespace)),
    isDone: isAvailable,
  })

export const convergeApplications = (client: Client): Promise<Converged> =>
  converge(client, {
    kind: Application,
    create: (name, namespace) => client.create(Application, application(name, namespace)),
    isDone: ({ status }) => status?.phase === 'Running',
  })

/**
 * Measures the cluster's own time for the writes that an Application needs, made by this client without an operator or
 * other watchers: the object, its finalizer, its Deployment by server-side apply, and one status.
 */
export const convergeByHand = (client: Client): Promise<Converged> =>
  converge(client, {
    kind: Deployment,
    create: async (name, namespace) => {
      const { apiVersion, kind, metadata } = await client.create(Application, application(name, namespace))
      await client.patch(Application, { name, namespace }, mergePatch({ metadata: { finalizers: [FINALIZER] } }))
      const owner = { apiVersion, kind, name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
      const child = deployment(name, namespace)
      await client.apply(Deployment, { ...child, metadata: { ...child.metadata, ownerReferences: [owner] } })
    },
    isDone: isAvailable,
    finish: (name, namespace) => {
      const status = { observedGeneration: 1, phase: 'Running', replicas: 1, readyReplicas: 1 }
      return client.patch(Application, { name, namespace }, mergePatch({ status }), { subresource: 'status' })
    },
  })

/** No operator runs that would remove the finalizers. */
export async function removeFinalizers(client: Client, namespace: string): Promise<void> {
  await inParallel(APPLICATIONS, AT_ONCE, (index) =>
    client.patch(Application, { name: `web-${index}`, namespace }, mergePatch({ metadata: { finalizers: [] } })),
  )
}
