import type { ObjectRef, Stored } from '@tenure/kube'
import { type EndpointPort, Pod, type Service } from '@tenure/kube/kinds'
import type { Cache, PlanContext } from '@tenure/runtime'
import { candidates, hasLabels, LABELS, labelIndex, SELECTOR, selectorIndex, selectorValues } from '../common/labels.ts'
import { isFinished } from '../common/pods.ts'

/** Index of Services by their selectors. */
export const serviceIndexes: Readonly<Record<typeof SELECTOR, (service: Stored<Service>) => readonly string[]>> = {
  [SELECTOR]: selectorIndex((service) => service.spec?.selector),
}
/** Index of pods by their labels. */
export const podIndexes = { [LABELS]: labelIndex }

/** Maps a pod to the Services that select it. */
export function toServices(pod: Stored<Pod>, services: Cache<Service>): readonly ObjectRef[] {
  return selectorValues(pod)
    .flatMap((value) => services.byIndex(SELECTOR, value))
    .filter((service) => selects(service, pod))
    .map(({ metadata }) => metadata)
}

/** The pods that a Service selects. */
export function selectedPods(context: PlanContext<Service>): readonly Stored<Pod>[] {
  const { object: service } = context
  const { namespace } = service.metadata
  return candidates(context, Pod, namespace, service.spec?.selector).filter((pod) => selects(service, pod))
}

export function selects(service: Service, pod: Pod): boolean {
  const { selector = {} } = service.spec ?? {}
  return Object.keys(selector).length > 0 && hasLabels(pod.metadata?.labels, selector)
}

/** True if the controller writes the endpoints of this Service. */
export function hasEndpoints(service: Service): boolean {
  return Object.keys(service.spec?.selector ?? {}).length > 0 && service.spec?.type !== 'ExternalName'
}

/** True if the pod has an address and is not finished. */
export function isReachable(pod: Pod): boolean {
  return Boolean(pod.status?.podIP) && !isFinished(pod)
}

/** Resolves the target port on a pod; undefined if the pod has no port of that name. */
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
  /** Empty if the Service's only port is unnamed. */
  readonly name: string
  readonly port: number
  readonly protocol: NonNullable<EndpointPort['protocol']>
  readonly appProtocol?: string
}

/** The ports of a Service that resolve on a pod. */
export function portsOn(service: Service, pod: Pod): readonly PortOn[] {
  return (service.spec?.ports ?? []).flatMap((each): PortOn[] => {
    const port = portOn(pod, each)
    if (port === undefined) return []
    const { appProtocol, name = '', protocol = 'TCP' } = each
    return [{ name, port, protocol, ...(appProtocol && { appProtocol }) }]
  })
}

/** Host name, node and reference of a pod, common to Endpoints and EndpointSlices. */
export function endpointTarget(service: Service, pod: Stored<Pod>) {
  const { hostname, nodeName, subdomain } = pod.spec ?? {}
  const isNamed = hostname && subdomain === service.metadata?.name
  return { ...(isNamed && { hostname }), ...(nodeName && { nodeName }), targetRef: targetRef(pod) }
}

/** The labels of a Service's endpoints: its own labels and whether it is headless. */
export function endpointLabels(service: Stored<Service>): Record<string, string> {
  const { 'service.kubernetes.io/headless': _, ...labels } = service.metadata.labels ?? {}
  return { ...labels, ...(service.spec?.clusterIP === 'None' && { 'service.kubernetes.io/headless': '' }) }
}

function targetRef(pod: Stored<Pod>): { kind: string; namespace: string; name: string; uid: string } {
  const { name, namespace = '', uid } = pod.metadata
  return { kind: 'Pod', namespace, name, uid }
}

export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'
