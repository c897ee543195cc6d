import type { HorizontalPodAutoscaler, MetricSpec } from '@tenure/kube/kinds'
import type { ApplicationAutoscaling, ApplicationSpec } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'

/** Target when none is given. */
const DEFAULT_CPU_PERCENT = 80

/** Sets the replicas of the Deployment. */
export function autoscalerFor(
  name: string,
  { autoscaling, run }: ApplicationSpec,
): HorizontalPodAutoscaler | undefined {
  if (!autoscaling || run === 'Once') return undefined
  const { autoscaler, workload } = childNames(name)
  return {
    metadata: { name: autoscaler, labels: labelsOf(name) },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: workload },
      minReplicas: autoscaling.minReplicas ?? 1,
      maxReplicas: autoscaling.maxReplicas,
      metrics: metricsOf(autoscaling),
    },
  }
}

function metricsOf(autoscaling: ApplicationAutoscaling): readonly MetricSpec[] {
  const memory = autoscaling.targetMemoryUtilizationPercentage
  const cpu = autoscaling.targetCPUUtilizationPercentage ?? (memory === undefined ? DEFAULT_CPU_PERCENT : undefined)
  return [
    ...(cpu === undefined ? [] : [utilization('cpu', cpu)]),
    ...(memory === undefined ? [] : [utilization('memory', memory)]),
  ]
}

function utilization(name: string, averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } } }
}
