import { type Client, isNotFound, type Kind, metadataOf, type PartialObjectMetadata, type Stored } from '@tenure/kube'
import { Namespace, type NamespaceCondition } from '@tenure/kube/kinds'
import { type Component, QueueWorker, rfc3339 } from '@tenure/runtime'
import { append } from '../../model/append.ts'
import { conditionOf } from '../common/conditions.ts'
import { type ServedResources, servedResources, type ServedResource } from '../common/served-resources.ts'
import { informerWorker } from '../informer-worker.ts'
import type { ControlPlaneContext } from '../context.ts'

const FINALIZER = 'kubernetes'
/** Milliseconds between two attempts to delete the remaining content. */
const RETRY_DELAY_MS = { min: 100, max: 5_000 }

/** Deletes the content of terminating namespaces and finalizes empty ones. */
export function namespaceLifecycle(context: ControlPlaneContext): Component {
  const { clock, controllers: api, informers, log, metrics } = context
  const namespaces = informers.informer(Namespace)
  const attempts = new Map<string, number>()
  const worker = new QueueWorker({
    name: 'namespace',
    clock,
    log,
    metrics,
    work: async (name, { signal }) => {
      const namespace = namespaces.cache.get({ name })
      if (!namespace || !isTerminating(namespace)) return undefined
      const served = await servedResources(api, signal)
      const content = await deleteContent(api, name, served, signal)
      const current = await writeConditions(api, namespace, content, clock.now(), signal)
      if (!content.failure && content.remaining.size === 0 && served.failures.length === 0) {
        await finalize(api, current, signal)
        return undefined
      }
      const attempt = attempts.get(namespace.metadata.uid) ?? 0
      attempts.set(namespace.metadata.uid, attempt + 1)
      return { requeueAfter: Math.min(RETRY_DELAY_MS.min * 2 ** attempt, RETRY_DELAY_MS.max) }
    },
  })
  return informerWorker({
    worker,
    informers: [namespaces],
    subscribe: () => [
      namespaces.subscribe(({ object, type }) => {
        if (type === 'deleted') attempts.delete(object.metadata.uid)
        else if (isTerminating(object)) worker.add(object.metadata.name)
      }),
    ],
  })
}

function isTerminating({ metadata, spec }: Stored<Namespace>): boolean {
  return Boolean(metadata.deletionTimestamp) && (spec?.finalizers ?? []).includes(FINALIZER)
}

interface RemainingContent {
  /** Number of objects per resource. */
  readonly remaining: ReadonlyMap<string, number>
  /** Number of objects per finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  readonly discovery: Error | undefined
  readonly failure: string | undefined
}

const PODS = 'pods'
const isPods = ({ key }: ServedResource): boolean => key === PODS

/** Deletes all objects of a namespace and returns the remaining ones. */
async function deleteContent(
  api: Client,
  namespace: string,
  served: ServedResources,
  signal: AbortSignal,
): Promise<RemainingContent> {
  const remaining = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures: string[] = []
  // The pods go first: what they use stays until they have stopped.
  const namespaced = served.resources.filter(({ kind }) => kind.namespaced)
  const order = [...namespaced.filter(isPods), ...namespaced.filter((resource) => !isPods(resource))]
  for (const resource of order) {
    if (remaining.has(PODS) && !isPods(resource)) break
    try {
      const content = await deleteResource(api, namespace, resource, signal)
      if (content.length === 0) continue
      remaining.set(resource.key, content.length)
      for (const { metadata } of content) {
        for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
      }
    } catch (error) {
      if (signal.aborted) throw error
      // NotFound: the resource is no longer served.
      if (!isNotFound(error)) failures.push(String(error))
    }
  }
  return { remaining, finalizers, discovery: served.failures[0], failure: failures[0] }
}

async function deleteResource(
  api: Client,
  namespace: string,
  { kind, verbs }: ServedResource,
  signal: AbortSignal,
): Promise<readonly Stored<PartialObjectMetadata>[]> {
  const existing = await listAll(api, kind, namespace, signal)
  if (existing.every(({ metadata }) => metadata.deletionTimestamp)) return existing
  if (verbs.includes('deletecollection')) {
    await api.deleteCollection(kind, { namespace, propagation: 'Background', signal })
  } else {
    for (const { metadata } of existing) {
      await api
        .delete(metadataOf(kind), metadata, { preconditions: { uid: metadata.uid }, propagation: 'Background', signal })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error
        })
    }
  }
  return listAll(api, kind, namespace, signal)
}

async function listAll(
  api: Client,
  kind: Kind,
  namespace: string,
  signal: AbortSignal,
): Promise<Stored<PartialObjectMetadata>[]> {
  const found: Stored<PartialObjectMetadata>[] = []
  for await (const page of api.pages(metadataOf(kind), { namespace, signal })) append(found, page.items)
  return found
}

/** Writes the five conditions that explain why a namespace still exists. */
async function writeConditions(
  api: Client,
  namespace: Stored<Namespace>,
  content: RemainingContent,
  now: number,
  signal: AbortSignal,
): Promise<Stored<Namespace>> {
  const remaining = [...content.remaining]
    .toSorted(byName)
    .map(([key, count]) => `${withDot(key)} has ${count} resource instances`)
  const finalizers = [...content.finalizers]
    .toSorted(byName)
    .map(([name, count]) => `${name} in ${count} resource instances`)
  const wanted: readonly (readonly [type: string, isTrue: boolean, reason: string, message: string])[] = [
    content.discovery
      ? [
          'NamespaceDeletionDiscoveryFailure',
          true,
          'DiscoveryFailed',
          `Discovery failed for some groups, 1 failing: ${content.discovery.message}`,
        ]
      : ['NamespaceDeletionDiscoveryFailure', false, 'ResourcesDiscovered', 'All resources successfully discovered'],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    content.failure
      ? [
          'NamespaceDeletionContentFailure',
          true,
          'ContentDeletionFailed',
          `Failed to delete all resource types, 1 remaining: ${content.failure}`,
        ]
      : [
          'NamespaceDeletionContentFailure',
          false,
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        ],
    remaining.length > 0
      ? [
          'NamespaceContentRemaining',
          true,
          'SomeResourcesRemain',
          `Some resources are remaining: ${remaining.join(', ')}`,
        ]
      : ['NamespaceContentRemaining', false, 'ContentRemoved', 'All content successfully removed'],
    finalizers.length > 0
      ? [
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`,
        ]
      : ['NamespaceFinalizersRemaining', false, 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
  ]
  const before = namespace.status?.conditions
  const conditions = wanted.map(([type, isTrue, reason, message]): NamespaceCondition => {
    const known = conditionOf(before, type)
    const status = isTrue ? 'True' : 'False'
    if (known?.status === status && known.reason === reason && known.message === message) return known
    return { type, status, lastTransitionTime: rfc3339(now), reason, message }
  })
  // A namespace that is empty at the first attempt needs no conditions: finalizing deletes it.
  const isChanged = conditions.some((condition) => !before?.includes(condition))
  if (!isChanged || (content.remaining.size === 0 && !before)) return namespace
  const status = { ...namespace.status, conditions }
  return api.update<Namespace>(Namespace, { ...namespace, status }, { subresource: 'status', signal })
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1
}

/** Formats `deployments.apps`, and `pods.` for the core group, as upstream does. */
function withDot(key: string): string {
  return key.includes('.') ? key : `${key}.`
}

async function finalize(api: Client, namespace: Stored<Namespace>, signal: AbortSignal): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((name) => name !== FINALIZER)
  try {
    await api.requester.json({
      verb: 'update',
      kind: Namespace,
      idempotent: false,
      method: 'PUT',
      path: `/api/v1/namespaces/${encodeURIComponent(namespace.metadata.name)}/finalize?fieldManager=${api.fieldManager}`,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ ...namespace, apiVersion: 'v1', kind: 'Namespace', spec: { finalizers } }),
      signal,
    })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
