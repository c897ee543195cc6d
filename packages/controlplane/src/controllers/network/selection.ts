import type { KubeObject, ObjectRef, Stored } from '@tenure/kube'
import { type EndpointPort, Pod, type Service } from '@tenure/kube/kinds'
import type { Cache, ReconcileContext } from '@tenure/runtime'
import { candidates, LABELS, labelIndex, SELECTOR, selectorIndex, selectorValues } from '../common/labels.ts'
import { isFinished } from '../common/pods.ts'

/** Of Services, by what they select. */
export const serviceIndexes = { [SELECTOR]: selectorIndex((service) => (service as Service).spec?.selector) }
/** Of pods, by their labels. */
export const podIndexes = { [LABELS]: labelIndex }

/** To the Services that select a pod. */
export function toServices(pod: Stored<KubeObject>, services: Cache<KubeObject>): readonly ObjectRef[] {
  return selectorValues(pod)
    .flatMap((value) => services.byIndex(SELECTOR, value))
    .filter((service) => selects(service as Service, pod as Pod))
    .map(({ metadata }) => metadata)
}

/** The pods that a Service selects. */
export function selectedPods(context: ReconcileContext<Service>): readonly Stored<Pod>[] {
  const { object: service } = context
  const { namespace } = service.metadata
  return candidates(context, Pod, namespace, service.spec?.selector).filter((pod) => selects(service, pod))
}

export function selects(service: Service, pod: Pod): boolean {
  const wanted = Object.entries(service.spec?.selector ?? {})
  const labels = pod.metadata?.labels ?? {}
  return wanted.length > 0 && wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
}

/** Whether a Service has endpoints that are ours to write. */
export function hasEndpoints(service: Service): boolean {
  return Object.keys(service.spec?.selector ?? {}).length > 0 && service.spec?.type !== 'ExternalName'
}

/** Whether a pod can be reached at all: it has an address and has not ended. */
export function isReachable(pod: Pod): boolean {
  return Boolean(pod.status?.podIP) && !isFinished(pod)
}

/** The number of a Service's port on a pod; undefined if the pod has no port of that name. */
function portOn(pod: Pod, port: NonNullable<NonNullable<Service['spec']>['ports']>[number]): number | undefined {
  const { port: number, protocol = 'TCP', targetPort = number } = port
  if (typeof targetPort === 'number') return targetPort === 0 ? number : targetPort
  if (/^\d+$/.test(targetPort)) return Number(targetPort)
  for (const container of pod.spec?.containers ?? []) {
    const found = container.ports?.find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)
    if (found) return found.containerPort
  }
  return undefined
}

export interface PortOn {
  /** Empty if the Service's only port has none. */
  readonly name: string
  readonly port: number
  readonly protocol: NonNullable<EndpointPort['protocol']>
  readonly appProtocol?: string
}

/** The ports of a Service on a pod, as far as the pod has them. */
export function portsOn(service: Service, pod: Pod): readonly PortOn[] {
  return (service.spec?.ports ?? []).flatMap((each): PortOn[] => {
    const port = portOn(pod, each)
    if (port === undefined) return []
    const { appProtocol, name = '', protocol = 'TCP' } = each
    return [{ name, port, protocol, ...(appProtocol && { appProtocol }) }]
  })
}

/** The name and place of a pod, which both forms of endpoints tell. */
export function placeOf(service: Service, pod: Stored<Pod>) {
  const { hostname, nodeName, subdomain } = pod.spec ?? {}
  const isNamed = hostname && subdomain === service.metadata?.name
  return { ...(isNamed && { hostname }), ...(nodeName && { nodeName }), targetRef: targetRef(pod) }
}

/** The labels that the endpoints of a Service carry: its own, and whether it is headless. */
export function endpointLabels(service: Stored<Service>): Record<string, string> {
  const { 'service.kubernetes.io/headless': _, ...labels } = service.metadata.labels ?? {}
  return { ...labels, ...(service.spec?.clusterIP === 'None' && { 'service.kubernetes.io/headless': '' }) }
}

function targetRef(pod: Stored<Pod>): { kind: string; namespace: string; name: string; uid: string } {
  const { name, namespace = '', uid } = pod.metadata
  return { kind: 'Pod', namespace, name, uid }
}

export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'
