import type { Stored } from '@tenure/kube'
import { isDeepEqual, type JsonObject, type Labels } from '@tenure/kube/model'
import { type DiscoveryEndpointPort, type Endpoint, EndpointSlice, Pod, Service } from '@tenure/kube/kinds'
import { type Actions, controller, create, patch, type PlanContext, remove, rfc3339, watch } from '@tenure/runtime'
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

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const MANAGER = 'endpointslice-controller.k8s.io'
const SERVICE_NAME = 'kubernetes.io/service-name'
/** Maximum number of endpoints per slice, as upstream. */
const MAX_ENDPOINTS_PER_SLICE = 100

/** Writes EndpointSlices with the addresses of the pods that a Service selects. */
export const endpointSlices = builtIn('endpointslice', () =>
  controller(Service, {
    name: 'endpointslice',
    indexes: serviceIndexes,
    owns: [EndpointSlice],
    watches: [watch(Pod, toServices, { indexes: podIndexes })],
    plan,
  }),
)

interface Group {
  readonly ports: readonly DiscoveryEndpointPort[]
  readonly endpoints: Endpoint[]
}

function plan(context: PlanContext<Service>): Actions<Service> {
  const { object: service, now, owned } = context
  if (!hasEndpoints(service)) return []
  const managed = owned(EndpointSlice).filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER)
  const free = new Set(managed.filter(({ metadata }) => !metadata.deletionTimestamp))
  const missing: Group[] = []
  // An equal slice stays; otherwise a slice with the same ports is updated.
  for (const group of chunks(groups(service, selectedPods(context)))) {
    const same = [...free].find((slice) => isDeepEqual(slice.ports ?? [], group.ports) && isSame(slice, group))
    if (same) free.delete(same)
    else missing.push(group)
  }
  const labels = labelsFor(service)
  const writes = missing.map((group) => {
    const reused = [...free].find((slice) => isDeepEqual(slice.ports ?? [], group.ports)) ?? [...free][0]
    if (!reused) return create(EndpointSlice, newSlice(service, group, labels, now))
    free.delete(reused)
    return patch(EndpointSlice, reused, changesTo(reused, group, labels, now))
  })
  return [...writes, ...[...free].map((slice) => remove(EndpointSlice, slice))]
}

function newSlice({ metadata }: Stored<Service>, group: Group, labels: Labels, now: number): EndpointSlice {
  const annotations = annotationsFor(group, now)
  return {
    metadata: { generateName: `${metadata.name}-`, labels, ...(annotations && { annotations }) },
    addressType: 'IPv4',
    ...group,
  }
}

function changesTo({ metadata }: Stored<EndpointSlice>, group: Group, labels: Labels, now: number): JsonObject {
  const annotations = annotationsFor(group, now)
  return {
    metadata: {
      labels: mapChanges(metadata.labels, labels),
      ...(annotations && { annotations: mapChanges(metadata.annotations, annotations) }),
    },
    ...group,
  }
}

function annotationsFor({ endpoints }: Group, now: number): Labels | undefined {
  return endpoints.length > 0 ? { [TRIGGER_TIME]: rfc3339(now) } : undefined
}

function labelsFor(service: Stored<Service>): Labels {
  return {
    ...endpointLabels(service),
    [MANAGED_BY]: MANAGER,
    [SERVICE_NAME]: service.metadata.name,
  }
}

/** Groups pods by their port numbers. Without pods there is one empty group. */
function groups(service: Stored<Service>, pods: readonly Stored<Pod>[]): readonly Group[] {
  const found = new Map<string, Group>()
  for (const pod of pods) {
    if (!isReachable(pod)) continue
    const ports = portsOn(service, pod)
    const key = canonicalJson(ports)
    const group = found.get(key) ?? { ports, endpoints: [] }
    group.endpoints.push(endpointFor(service, pod))
    found.set(key, group)
  }
  return found.size > 0 ? [...found.values()] : [{ ports: [], endpoints: [] }]
}

function chunks(all: readonly Group[]): readonly Group[] {
  return all.flatMap(({ endpoints, ports }) => {
    const sorted = endpoints.toSorted(byAddress)
    const count = Math.max(Math.ceil(sorted.length / MAX_ENDPOINTS_PER_SLICE), 1)
    return Array.from({ length: count }, (_, index) => ({
      ports,
      endpoints: sorted.slice(index * MAX_ENDPOINTS_PER_SLICE, (index + 1) * MAX_ENDPOINTS_PER_SLICE),
    }))
  })
}

function isSame(slice: EndpointSlice, group: Group): boolean {
  return isDeepEqual((slice.endpoints ?? []).toSorted(byAddress), group.endpoints)
}

function byAddress(a: Endpoint, b: Endpoint): number {
  return (a.addresses[0] ?? '') < (b.addresses[0] ?? '') ? -1 : 1
}

function endpointFor(service: Service, pod: Stored<Pod>): Endpoint {
  const terminating = Boolean(pod.metadata.deletionTimestamp)
  const serving = isReady(pod)
  const ready = Boolean(service.spec?.publishNotReadyAddresses) || (serving && !terminating)
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready, serving, terminating },
    ...endpointTarget(service, pod),
  }
}
