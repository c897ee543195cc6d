import type { Deployment } from '@tenure/kube/kinds'
import { restrictedContainer, restrictedPod, TERMINATION_GRACE_SECONDS } from './restricted.ts'

type PodSpec = NonNullable<Deployment['spec']>['template']['spec']
type PodOptions = NonNullable<PodSpec>
type Container = PodOptions['containers'][number]

/** The parts of the Pod that differ between operators. */
export interface OperatorPod extends Pick<Container, 'ports' | 'livenessProbe' | 'readinessProbe' | 'resources'> {
  readonly replicas: number
  /** Default: `operator`. */
  readonly container?: string
  readonly image: string
  /** The command of `tenure`. */
  readonly command: string
  /** Besides the name of the pod, by which elections know a replica. */
  readonly env: NonNullable<Container['env']>
  /** Default: none. */
  readonly topologySpreadConstraints?: PodOptions['topologySpreadConstraints']
}

/** The Deployment of an operator. Its ServiceAccount has the same name, and its pods have the same labels. */
export function operatorDeployment(
  metadata: { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
  pod: OperatorPod,
): Deployment {
  const { command, container = 'operator', env, image, replicas, topologySpreadConstraints, ...more } = pod
  const { labels, name } = metadata
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          terminationGracePeriodSeconds: TERMINATION_GRACE_SECONDS,
          securityContext: restrictedPod,
          ...(topologySpreadConstraints && { topologySpreadConstraints }),
          containers: [
            {
              name: container,
              image,
              imagePullPolicy: 'IfNotPresent',
              args: [command],
              env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }, ...env],
              ...more,
              securityContext: restrictedContainer,
            },
          ],
        },
      },
    },
  }
}
