import type { Deployment, DeploymentStrategy } from '@tenure/kube/kinds'
import type { ApplicationSpec, Strategy } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'
import { podTemplate } from './pod-template.ts'

/** The Deployment that keeps an Application running; `live` is the one that is there. */
export function deploymentFor(name: string, spec: ApplicationSpec, live?: Deployment): Deployment {
  const labels = labelsOf(name)
  const replicas = replicasFor(spec, live)
  return {
    metadata: { name: childNames(name).workload, labels },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: labels },
      strategy: strategyOf(spec.strategy ?? 'RollingUpdate'),
      template: podTemplate(name, spec),
    },
  }
}

/**
 * The defaults of a rolling update are spelled out, because only what we own goes away with a change to Recreate: what
 * the server filled in would stay, and is not allowed there.
 */
function strategyOf(type: Strategy): DeploymentStrategy {
  return type === 'Recreate' ? { type } : { type, rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }
}

/**
 * With an autoscaler the number is not ours to say. But to stop saying it while nobody else does would reset it to 1:
 * it is repeated as it is until the autoscaler has changed it, which takes it from us.
 */
function replicasFor(spec: ApplicationSpec, live: Deployment | undefined): number | undefined {
  const { autoscaling, replicas } = spec
  if (!autoscaling) return replicas
  if (!live) return Math.min(Math.max(replicas, autoscaling.minReplicas ?? 1), autoscaling.maxReplicas)
  return ownsReplicas(live) ? live.spec?.replicas : undefined
}

/** Caches keep our own managedFields entries and no others. */
function ownsReplicas({ metadata }: Deployment): boolean {
  return (metadata?.managedFields ?? []).some(({ fieldsV1, operation, subresource }) => {
    const spec = fieldsV1?.['f:spec']
    return operation === 'Apply' && !subresource && typeof spec === 'object' && spec !== null && 'f:replicas' in spec
  })
}
