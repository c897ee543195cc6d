import { type Client, isNotFound, type Kind, metadataOf, type PartialObjectMetadata, type Stored } from '@tenure/kube'
import { Namespace, type NamespaceCondition } from '@tenure/kube/kinds'
import { type Component, rfc3339 } from '@tenure/runtime'
import { conditionOf } from '../common/conditions.ts'
import { type Served, servedResources, type ServedResource } from '../common/served-resources.ts'
import { KeyedWorker } from '../keyed-worker.ts'
import type { Surroundings } from '../context.ts'

const FINALIZER = 'kubernetes'
/** Milliseconds between two looks at what is left. */
const LOOK_AGAIN = { first: 100, longest: 5_000 }

/** Empties namespaces that are being deleted, and lets them go when nothing is left. */
export function namespaceLifecycle(around: Surroundings): Component {
  const { clock, controllers: api, informers, log, metrics } = around
  const namespaces = informers.informer(Namespace)
  const looks = new Map<string, number>()
  const worker = new KeyedWorker({
    name: 'namespace',
    clock,
    log,
    metrics,
    informers: [namespaces],
    begin: () =>
      namespaces.subscribe(({ object, type }) => {
        if (type === 'deleted') looks.delete(object.metadata.uid)
        else if (isEnding(object)) worker.add(object.metadata.name)
      }),
    work: async (name, signal) => {
      const namespace = namespaces.cache.get({ name })
      if (!namespace || !isEnding(namespace)) return undefined
      const served = await servedResources(api, signal)
      const left = await empty(api, name, served, signal)
      const current = await writeConditions(api, namespace, left, clock.now(), signal)
      if (!left.failure && left.remaining.size === 0 && served.failures.length === 0) {
        await finalize(api, current, signal)
        return undefined
      }
      const look = looks.get(namespace.metadata.uid) ?? 0
      looks.set(namespace.metadata.uid, look + 1)
      return Math.min(LOOK_AGAIN.first * 2 ** look, LOOK_AGAIN.longest)
    },
  })
  return worker
}

function isEnding({ metadata, spec }: Stored<Namespace>): boolean {
  return Boolean(metadata.deletionTimestamp) && (spec?.finalizers ?? []).includes(FINALIZER)
}

interface Left {
  /** How many of each resource. */
  readonly remaining: ReadonlyMap<string, number>
  /** How many objects wait for each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  readonly discovery: Error | undefined
  readonly failure: string | undefined
}

/** Deletes everything in a namespace, and tells what is still there. */
async function empty(api: Client, namespace: string, served: Served, signal: AbortSignal): Promise<Left> {
  const remaining = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures: string[] = []
  for (const resource of served.resources.filter(({ kind }) => kind.namespaced)) {
    try {
      const left = await emptyOf(api, namespace, resource, signal)
      if (left.length === 0) continue
      remaining.set(resource.key, left.length)
      for (const { metadata } of left) {
        for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
      }
    } catch (error) {
      if (signal.aborted) throw error
      // A kind that went since it was discovered.
      if (!isNotFound(error)) failures.push(String(error))
    }
  }
  return { remaining, finalizers, discovery: served.failures[0], failure: failures[0] }
}

async function emptyOf(
  api: Client,
  namespace: string,
  { kind, verbs }: ServedResource,
  signal: AbortSignal,
): Promise<readonly Stored<PartialObjectMetadata>[]> {
  const there = await listAll(api, kind, namespace, signal)
  if (there.every(({ metadata }) => metadata.deletionTimestamp)) return there
  if (verbs.includes('deletecollection')) {
    await api.deleteCollection(kind, { namespace, propagation: 'Background', signal })
  } else {
    for (const { metadata } of there) {
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
  for await (const page of api.pages(metadataOf(kind), { namespace, signal })) found.push(...page.items)
  return found
}

/** The five conditions that tell why a namespace is still there. */
async function writeConditions(
  api: Client,
  namespace: Stored<Namespace>,
  left: Left,
  now: number,
  signal: AbortSignal,
): Promise<Stored<Namespace>> {
  const remaining = [...left.remaining]
    .toSorted(byName)
    .map(([key, count]) => `${withDot(key)} has ${count} resource instances`)
  const finalizers = [...left.finalizers]
    .toSorted(byName)
    .map(([name, count]) => `${name} in ${count} resource instances`)
  const wanted: readonly (readonly [type: string, isTrue: boolean, reason: string, message: string])[] = [
    left.discovery
      ? [
          'NamespaceDeletionDiscoveryFailure',
          true,
          'DiscoveryFailed',
          `Discovery failed for some groups, 1 failing: ${left.discovery.message}`,
        ]
      : ['NamespaceDeletionDiscoveryFailure', false, 'ResourcesDiscovered', 'All resources successfully discovered'],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    left.failure
      ? [
          'NamespaceDeletionContentFailure',
          true,
          'ContentDeletionFailed',
          `Failed to delete all resource types, 1 remaining: ${left.failure}`,
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
  // One that goes at the first look needs no explanation; the next write ends it.
  const isNews = conditions.some((condition) => !before?.includes(condition))
  if (!isNews || (left.remaining.size === 0 && !before)) return namespace
  const status = { ...namespace.status, conditions }
  return api.update<Namespace>(Namespace, { ...namespace, status }, { subresource: 'status', signal })
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1
}

/** `deployments.apps`, and `pods.` for the core group: as the real controller prints them. */
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
