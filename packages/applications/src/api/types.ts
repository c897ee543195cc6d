import { type Condition, defineKind, type KubeObject } from '@tenure/kube'
import type { EnvVar, Probe } from '@tenure/kube/kinds'
import { GROUP, VERSION } from './names.ts'

export const PHASES = ['Pending', 'Running', 'Failed', 'Succeeded'] as const
export type Phase = (typeof PHASES)[number]

export const STRATEGIES = ['RollingUpdate', 'Recreate'] as const
export type RolloutStrategy = (typeof STRATEGIES)[number]

/** `Always`: a Deployment keeps the pods running. `Once`: a Job runs them to completion. */
export const RUNS = ['Always', 'Once'] as const
export type Run = (typeof RUNS)[number]

export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOncePod'] as const
export type AccessMode = (typeof ACCESS_MODES)[number]

/** An amount such as `500m`, `1Gi` or 2. */
export type QuantityValue = string | number

export interface ResourceAmounts {
  readonly cpu?: QuantityValue
  readonly memory?: QuantityValue
  readonly 'ephemeral-storage'?: QuantityValue
}

export interface ApplicationResources {
  readonly requests?: ResourceAmounts
  readonly limits?: ResourceAmounts
}

/** A port of the Service and of its containers. */
export interface ApplicationPort {
  /** Default: the protocol and the port, `tcp-80`. */
  readonly name?: string
  readonly port: number
  /** Port of the container. Default: `port`. */
  readonly targetPort?: number
  /** Default `TCP`. */
  readonly protocol?: Protocol
}

export interface ApplicationProbes {
  readonly liveness?: Probe
  readonly readiness?: Probe
  readonly startup?: Probe
}

/** Creates a HorizontalPodAutoscaler, which then sets the replicas of the Deployment. */
export interface ApplicationAutoscaling {
  /** Default 1. */
  readonly minReplicas?: number
  readonly maxReplicas: number
  /** Default 80, if no target is given. */
  readonly targetCPUUtilizationPercentage?: number
  readonly targetMemoryUtilizationPercentage?: number
}

/** Creates an Ingress to the first of `ports`. */
export interface ApplicationIngress {
  readonly host: string
  /** Path prefix. Default `/`. */
  readonly path?: string
  /** Default: the cluster's default class. */
  readonly className?: string
  /** Default: no TLS. */
  readonly tlsSecretName?: string
}

/** Creates a PersistentVolumeClaim, mounted into every pod. */
export interface ApplicationPersistence {
  readonly size: QuantityValue
  readonly mountPath: string
  /** Default: the cluster's default class. */
  readonly storageClassName?: string
  /** Default `ReadWriteOnce`. */
  readonly accessModes?: readonly AccessMode[]
}

export interface ApplicationSpec {
  /** Number of pods; with run `Once`, number of pods that have to finish. */
  readonly replicas: number
  readonly image: string
  /** Default `RollingUpdate`. */
  readonly strategy?: RolloutStrategy
  /** Environment variables, stored in a ConfigMap. */
  readonly config?: Readonly<Record<string, string>>
  readonly resources?: ApplicationResources
  /** Default `Always`. */
  readonly run?: Run
  /** Default: the image's. */
  readonly command?: readonly string[]
  /** Default: the image's. */
  readonly args?: readonly string[]
  /** Environment variables that override `config`. */
  readonly env?: readonly EnvVar[]
  /** Annotations of the pods, for scrapers and meshes. Default: none. */
  readonly podAnnotations?: Readonly<Record<string, string>>
  /** At least one port creates a Service. */
  readonly ports?: readonly ApplicationPort[]
  readonly probes?: ApplicationProbes
  readonly autoscaling?: ApplicationAutoscaling
  readonly ingress?: ApplicationIngress
  readonly persistence?: ApplicationPersistence
}

export interface ApplicationStatus {
  /** Generation that this status describes; -1 before the first report. */
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly readyReplicas?: number
  /** Selector of the pods as text, for the scale subresource. */
  readonly labelSelector?: string
  readonly phase?: Phase
  readonly conditions?: readonly Condition[]
}

export interface Application extends KubeObject {
  readonly spec: ApplicationSpec
  readonly status?: ApplicationStatus
}

export const Application = defineKind<Application>({ apiVersion: `${GROUP}/${VERSION}`, kind: 'Application' })

/** Whether the operator has written a status. */
export function isReported(status: ApplicationStatus | undefined): boolean {
  return (status?.observedGeneration ?? -1) >= 0
}
