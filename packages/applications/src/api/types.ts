import { type Condition, defineKind, type KubeObject } from '@tenure/kube'
import type { EnvVar, Probe } from '@tenure/kube/kinds'
import { GROUP, VERSION } from './names.ts'

export const PHASES = ['Pending', 'Running', 'Failed', 'Succeeded'] as const
export type Phase = (typeof PHASES)[number]

export const STRATEGIES = ['RollingUpdate', 'Recreate'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** `Always`: a Deployment keeps it running. `Once`: a Job runs it to its end. */
export const RUNS = ['Always', 'Once'] as const
export type Run = (typeof RUNS)[number]

export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOncePod'] as const
export type AccessMode = (typeof ACCESS_MODES)[number]

/** An amount such as `500m`, `1Gi` or 2. */
export type Quantity = string | number

export interface ResourceAmounts {
  readonly cpu?: Quantity
  readonly memory?: Quantity
  readonly 'ephemeral-storage'?: Quantity
}

export interface ApplicationResources {
  readonly requests?: ResourceAmounts
  readonly limits?: ResourceAmounts
}

/** A port of the Service, and of the container behind it. */
export interface ApplicationPort {
  /** Default: the protocol and the port, `tcp-80`. */
  readonly name?: string
  readonly port: number
  /** Where the container listens. Default: `port`. */
  readonly targetPort?: number
  /** Default `TCP`. */
  readonly protocol?: Protocol
}

export interface ApplicationProbes {
  readonly liveness?: Probe
  readonly readiness?: Probe
  readonly startup?: Probe
}

/** Ends in a HorizontalPodAutoscaler, which then decides about the replicas of the Deployment. */
export interface ApplicationAutoscaling {
  /** Default 1. */
  readonly minReplicas?: number
  readonly maxReplicas: number
  /** Default 80, if no target is given. */
  readonly targetCPUUtilizationPercentage?: number
  readonly targetMemoryUtilizationPercentage?: number
}

/** Ends in an Ingress to the first of `ports`. */
export interface ApplicationIngress {
  readonly host: string
  /** Everything below it. Default `/`. */
  readonly path?: string
  /** Default: the cluster's default class. */
  readonly className?: string
  /** Default: no TLS. */
  readonly tlsSecretName?: string
}

/** Ends in a PersistentVolumeClaim, mounted into every pod. */
export interface ApplicationPersistence {
  readonly size: Quantity
  readonly mountPath: string
  /** Default: the cluster's default class. */
  readonly storageClassName?: string
  /** Default `ReadWriteOnce`. */
  readonly accessModes?: readonly AccessMode[]
}

export interface ApplicationSpec {
  /** Pods; of a run `Once`, pods that have to finish. */
  readonly replicas: number
  readonly image: string
  /** Default `RollingUpdate`. */
  readonly strategy?: Strategy
  /** Environment variables, kept in a ConfigMap. */
  readonly config?: Readonly<Record<string, string>>
  readonly resources?: ApplicationResources
  /** Default `Always`. */
  readonly run?: Run
  /** Default: the image's. */
  readonly command?: readonly string[]
  /** Default: the image's. */
  readonly args?: readonly string[]
  /** Wins over `config`. */
  readonly env?: readonly EnvVar[]
  /** For what looks at pods: scrapers, meshes, simulations. Default: none. */
  readonly podAnnotations?: Readonly<Record<string, string>>
  /** With at least one, a Service is made. */
  readonly ports?: readonly ApplicationPort[]
  readonly probes?: ApplicationProbes
  readonly autoscaling?: ApplicationAutoscaling
  readonly ingress?: ApplicationIngress
  readonly persistence?: ApplicationPersistence
}

export interface ApplicationStatus {
  /** The generation this is about; -1 if there has been no report yet. */
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly readyReplicas?: number
  /** The pods, as text, for whoever reads the scale subresource. */
  readonly labelSelector?: string
  readonly phase?: Phase
  readonly conditions?: readonly Condition[]
}

export interface Application extends KubeObject {
  readonly spec: ApplicationSpec
  readonly status?: ApplicationStatus
}

export const Application = defineKind<Application>({ apiVersion: `${GROUP}/${VERSION}`, kind: 'Application' })

/** Whether an Application has been reported on. */
export function isReported(status: ApplicationStatus | undefined): boolean {
  return (status?.observedGeneration ?? -1) >= 0
}
