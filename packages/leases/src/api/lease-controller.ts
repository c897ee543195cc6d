import { type Condition, defineKind, type KubeObject } from '@tenure/kube'

/** The kind whose objects are leased, in the spelling of the seed or in the newer one with both names. */
export type LeasedKindName = string | { readonly singular?: string; readonly plural?: string }

/** Where the leases of a kind are kept: by a Deployment of their own, or inside the operator. */
export type LeaseControllerMode = 'dedicated' | 'shared'

export interface LeaseControllerSpec {
  /** Default: the core group, or the only group that has the kind. */
  readonly group?: string
  /** Default: the version that the API server prefers. */
  readonly version?: string
  readonly kind: LeasedKindName
  /** Default: the operator's, `dedicated` on a cluster. */
  readonly mode?: LeaseControllerMode
  /** Only namespaces with this label are managed; without a value, any value will do. Default: all namespaces. */
  readonly optIn?: { readonly key: string; readonly value?: string }
  /** Let one replica lead. Default true. */
  readonly leaderElection?: boolean
  /** Of the Deployment. Default 1. */
  readonly replicas?: number
  /** Of the Deployment. Default: the operator's. */
  readonly image?: string
  /** Grant what cleanup jobs need: making Jobs, and reading the ConfigMaps with their scripts. Default false. */
  readonly cleanup?: boolean
  /** The ConfigMaps, by name, that may be read for cleanup jobs. Default: any. */
  readonly cleanupConfigMaps?: readonly string[]
  /** Say what would be deleted, and delete nothing. Default false. */
  readonly dryRun?: boolean
  /** Keep no leases of this kind for now; what was dated stays dated. Default false. */
  readonly suspend?: boolean
}

/** What the API server really calls the kind. */
export interface LeasedResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

export interface LeaseControllerStatus {
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
  readonly mode?: LeaseControllerMode
  readonly resource?: LeasedResource
  /** `deployments.apps/v1`, for people. */
  readonly target?: string
  /** What was read differently from how it was written, and why. */
  readonly note?: string
  readonly activeLeases?: number
  /** RFC 3339. */
  readonly nextExpiry?: string
}

export interface LeaseController extends KubeObject {
  readonly spec: LeaseControllerSpec
  readonly status?: LeaseControllerStatus
}

export const LEASE_CONTROLLER_GROUP = 'object-lease-controller.ullberg.us'

/**
 * Cluster-scoped: it speaks of a kind in all namespaces and owns a ClusterRole, which only a cluster-scoped owner can.
 * A manifest that names a namespace all the same is accepted: the API server drops it.
 */
export const LeaseController = defineKind<LeaseController>({
  apiVersion: `${LEASE_CONTROLLER_GROUP}/v1alpha1`,
  kind: 'LeaseController',
  namespaced: false,
})
