import type { Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import {
  type EndpointAddress,
  type EndpointPort,
  Endpoints,
  type EndpointSubset,
  Pod,
  Service,
} from '@tenure/kube/kinds'
import { type Actions, controller, create, patch, type PlanContext, rfc3339, watch } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { canonicalJson } from '../common/hash.ts'
import { mapChanges } from '../common/labels.ts'
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
    plan,
    // Endpoints have no owner reference, so their Service's deletion deletes them here.
    deleted: async (ref, { signal }) => {
      if (!informer.cache.get(ref)) return
      await context.controllers.delete(Endpoints, ref, { signal }).catch(() => undefined)
    },
  })
})

function plan(context: PlanContext<Service>): Actions<Service> {
  const { now, object: service, read } = context
  if (!hasEndpoints(service)) return []
  const { name } = service.metadata
  const existing = read(Endpoints, name)
  const subsets = subsetsFor(service, selectedPods(context))
  const labels = { ...endpointLabels(service), 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' }
  const annotations = subsets.length > 0 ? { [TRIGGER_TIME]: rfc3339(now) } : {}
  if (!existing) {
    return [create(Endpoints, { metadata: { name, labels, annotations }, ...(subsets.length > 0 && { subsets }) })]
  }
  const { metadata } = existing
  if (isDeepEqual(existing.subsets ?? [], subsets) && isDeepEqual(metadata.labels ?? {}, labels)) return []
  return [
    patch(Endpoints, existing, { metadata: { labels: mapChanges(metadata.labels, labels), annotations }, subsets }),
  ]
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
