import type { Container, ContainerPort, PodSpec, PodTemplateSpec, ResourceRequirements } from '@tenure/kube/kinds'
import { ANNOTATIONS, type ApplicationPort, type ApplicationSpec, type ResourceAmounts } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'
import { revisionOf } from './revision.ts'

const VOLUME = 'data'

/** Pod template, with a revision annotation that identifies the pods of this spec. */
export function podTemplate(name: string, spec: ApplicationSpec, more: Partial<PodSpec> = {}): PodTemplateSpec {
  const names = childNames(name)
  const podSpec: PodSpec = {
    ...more,
    containers: [containerOf(name, spec)],
    ...(spec.persistence && { volumes: [{ name: VOLUME, persistentVolumeClaim: { claimName: names.data } }] }),
  }
  return {
    metadata: {
      labels: labelsOf(name),
      annotations: {
        ...spec.podAnnotations,
        // Containers read the ConfigMap at start only: a change of its content must change the template.
        [ANNOTATIONS.revision]: revisionOf(podSpec, spec.podAnnotations ?? {}, spec.config ?? {}),
      },
    },
    spec: podSpec,
  }
}

function containerOf(name: string, spec: ApplicationSpec): Container {
  const { args, command, config, env, image, persistence, ports = [], probes } = spec
  const resources = requirementsOf(spec)
  const containerPorts = containerPortsOf(ports)
  return {
    name: 'app',
    image,
    ...(command && { command }),
    ...(args && { args }),
    ...(hasEntries(config) && { envFrom: [{ configMapRef: { name: childNames(name).config } }] }),
    ...(env && env.length > 0 && { env }),
    ...(containerPorts.length > 0 && { ports: containerPorts }),
    ...(resources && { resources }),
    ...(probes?.liveness && { livenessProbe: probes.liveness }),
    ...(probes?.readiness && { readinessProbe: probes.readiness }),
    ...(probes?.startup && { startupProbe: probes.startup }),
    ...(persistence && { volumeMounts: [{ name: VOLUME, mountPath: persistence.mountPath }] }),
  }
}

/** Several ports of the Service may target one port of the container, which gets the name of the first. */
function containerPortsOf(ports: readonly ApplicationPort[]): readonly ContainerPort[] {
  const found = new Map<string, ContainerPort>()
  for (const { name, port, protocol = 'TCP', targetPort = port } of ports) {
    const key = `${targetPort}/${protocol}`
    if (!found.has(key)) found.set(key, { containerPort: targetPort, protocol, ...(name !== undefined && { name }) })
  }
  return [...found.values()]
}

function requirementsOf({ resources }: ApplicationSpec): ResourceRequirements | undefined {
  const requests = amountsOf(resources?.requests)
  const limits = amountsOf(resources?.limits)
  return requests || limits ? { ...(requests && { requests }), ...(limits && { limits }) } : undefined
}

function amountsOf(amounts: ResourceAmounts | undefined): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(amounts ?? {}).map(([name, amount]) => [name, String(amount)] as const)
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

export function hasEntries(map: Readonly<Record<string, unknown>> | undefined): boolean {
  return map !== undefined && Object.keys(map).length > 0
}
