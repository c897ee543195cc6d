import type { Deployment, DeploymentStrategy } from '@tenure/kube/kinds'
import type { ApplicationSpec, RolloutStrategy } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'
import { podTemplate } from './pod-template.ts'

/** The Deployment of an Application; `live` is the current one. */
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
 * The defaults of a rolling update are applied explicitly: a change to Recreate then removes them, because the operator
 * owns them. Defaults of the server would stay, and Recreate does not allow them.
 */
function strategyOf(type: RolloutStrategy): DeploymentStrategy {
  return type === 'Recreate' ? { type } : { type, rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }
}

/**
 * The autoscaler sets the replicas. Until its first write the operator still owns the field, and leaving it out would
 * reset it to 1: the current value is repeated until the autoscaler has taken the ownership.
 */
function replicasFor(spec: ApplicationSpec, live: Deployment | undefined): number | undefined {
  const { autoscaling, replicas } = spec
  if (!autoscaling) return replicas
  if (!live) return Math.min(Math.max(replicas, autoscaling.minReplicas ?? 1), autoscaling.maxReplicas)
  return ownsReplicas(live) ? live.spec?.replicas : undefined
}

/** Caches keep the managedFields entries of the operator only. */
function ownsReplicas({ metadata }: Deployment): boolean {
  return (metadata?.managedFields ?? []).some(({ fieldsV1, operation, subresource }) => {
    const spec = fieldsV1?.['f:spec']
    return operation === 'Apply' && !subresource && typeof spec === 'object' && spec !== null && 'f:replicas' in spec
  })
}
