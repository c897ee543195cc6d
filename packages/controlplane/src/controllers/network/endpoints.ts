import { isAlreadyExists, type Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import {
  type EndpointAddress,
  type EndpointPort,
  Endpoints,
  type EndpointSubset,
  Pod,
  Service,
} from '@tenure/kube/kinds'
import { controller, isNamespaceTerminating, type ReconcileContext, rfc3339, watch } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { canonicalJson } from '../common/hash.ts'
import { isReady } from '../common/pods.ts'
import {
  endpointLabels,
  hasEndpoints,
  isReachable,
  endpointTarget,
  podIndexes,
  portsOn,
  selectedPods,
  serviceIndexes,
  toServices,
  TRIGGER_TIME,
} from './selection.ts'

/** Maximum number of addresses per subset, as upstream. */
const MAX_ADDRESSES = 1_000

/** Writes the Endpoints object of a Service, which has the name of the Service. */
export const endpoints = builtIn('endpoints', (context) => {
  const informer = context.informers.informer(Endpoints)
  return controller(Service, {
    name: 'endpoints',
    indexes: serviceIndexes,
    watches: [watch(Pod, toServices, { indexes: podIndexes }), watch(Endpoints, ({ metadata }) => [metadata])],
    reconcile,
    // Endpoints have no owner reference, so their Service's deletion deletes them here.
    deleted: async (ref, { signal }) => {
      if (!informer.cache.get(ref)) return
      await context.controllers.delete(Endpoints, ref, { signal }).catch(() => undefined)
    },
  })
})

async function reconcile(context: ReconcileContext<Service>): Promise<void> {
  const { api, now, object: service, read, signal } = context
  if (!hasEndpoints(service)) return
  const { name, namespace } = service.metadata
  const existing = read(Endpoints, name)
  const pods = selectedPods(context)
  const subsets = subsetsFor(service, pods)
  const labels = {
    ...endpointLabels(service),
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  }
  if (existing && isDeepEqual(existing.subsets ?? [], subsets) && isDeepEqual(existing.metadata.labels ?? {}, labels))
    return
  const annotations = { ...existing?.metadata.annotations, ...(subsets.length > 0 && { [TRIGGER_TIME]: rfc3339(now) }) }
  if (existing) {
    await api.update<Endpoints>(
      Endpoints,
      { ...existing, metadata: { ...existing.metadata, labels, annotations }, subsets },
      { signal },
    )
    return
  }
  const metadata = { name, ...(namespace && { namespace }), labels, annotations }
  await api
    .create<Endpoints>(Endpoints, { metadata, ...(subsets.length > 0 && { subsets }) }, { signal })
    .catch((error: unknown) => {
      if (!isNamespaceTerminating(error) && !isAlreadyExists(error)) throw error
    })
}

interface Subset {
  readonly ports: readonly EndpointPort[]
  readonly ready: EndpointAddress[]
  readonly notReady: EndpointAddress[]
}

function subsetsFor(service: Stored<Service>, pods: readonly Stored<Pod>[]): readonly EndpointSubset[] {
  const found = new Map<string, Subset>()
  for (const pod of pods) {
    const isExcluded = pod.metadata.deletionTimestamp && !service.spec?.publishNotReadyAddresses
    if (!isReachable(pod) || isExcluded) continue
    const ports = portsOn(service, pod).map(({ name, ...port }) => ({ ...(name && { name }), ...port }))
    if (ports.length === 0 && (service.spec?.ports?.length ?? 0) > 0) continue
    const key = canonicalJson(ports)
    const subset = found.get(key) ?? { ports, ready: [], notReady: [] }
    const isUp = service.spec?.publishNotReadyAddresses || isReady(pod)
    ;(isUp ? subset.ready : subset.notReady).push(addressFor(service, pod))
    found.set(key, subset)
  }
  return [...found.values()].map(({ notReady, ports, ready }) => ({
    ...(ready.length > 0 && { addresses: ready.toSorted(byIp).slice(0, MAX_ADDRESSES) }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady.toSorted(byIp).slice(0, MAX_ADDRESSES) }),
    ...(ports.length > 0 && { ports }),
  }))
}

function byIp(a: EndpointAddress, b: EndpointAddress): number {
  return a.ip < b.ip ? -1 : 1
}

function addressFor(service: Service, pod: Stored<Pod>): EndpointAddress {
  return { ip: pod.status?.podIP ?? '', ...endpointTarget(service, pod) }
}
