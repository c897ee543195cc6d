import { type Condition, defineKind, type KubeObject } from '@tenure/kube'

/** The kind whose objects have leases: a name, as in the seed, or the newer form with both names. */
export type LeasedKindName = string | { readonly singular?: string; readonly plural?: string }

/** Where the controller of a kind runs: in its own Deployment, or inside the operator. */
export type LeaseControllerMode = 'dedicated' | 'shared'

/** Resources that cleanup jobs may use beyond the defaults. In patterns, `*` stands for any text. */
export interface AllowedResources {
  /** Default: none. */
  readonly images?: readonly string[]
  /** Default: none. */
  readonly serviceAccounts?: readonly string[]
  /** Default: none. */
  readonly secrets?: readonly string[]
}

export interface LeaseControllerSpec {
  /** Default: the core group, or the only group that serves the kind. */
  readonly group?: string
  /** Default: the version that the API server prefers. */
  readonly version?: string
  readonly kind: LeasedKindName
  /** Default: the operator's, `dedicated` on a cluster. */
  readonly mode?: LeaseControllerMode
  /** Manage only namespaces with this label; without a value, any value matches. Default: all namespaces. */
  readonly optIn?: { readonly key: string; readonly value?: string }
  /** Elect one replica as leader. Default true. */
  readonly leaderElection?: boolean
  /** Replicas of the Deployment. Default 1. */
  readonly replicas?: number
  /** Image of the Deployment. Default: the operator's. */
  readonly image?: string
  /**
   * Grant the rights that cleanup jobs need: create Jobs, and read the ConfigMaps with scripts and the annotations of
   * ServiceAccounts. An object also lists what jobs may use. Default false.
   */
  readonly cleanup?: boolean | AllowedResources
  /** Names of the ConfigMaps that may be read for cleanup jobs. Default: any. */
  readonly cleanupConfigMaps?: readonly string[]
  /** Report what would be deleted, and delete nothing. Default false. */
  readonly dryRun?: boolean
  /** Stop managing leases of this kind; annotations stay as they are. Default false. */
  readonly suspend?: boolean
}

/** The kind as discovery names it. */
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
  /** `deployments.apps/v1`, for display. */
  readonly target?: string
  /** How the spec was interpreted, if not literally, and why. */
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
 * Cluster-scoped: it covers a kind in all namespaces and owns a ClusterRole, which only a cluster-scoped owner can.
 * A manifest that names a namespace is accepted: the API server drops it.
 */
export const LeaseController = defineKind<LeaseController>({
  apiVersion: `${LEASE_CONTROLLER_GROUP}/v1alpha1`,
  kind: 'LeaseController',
  namespaced: false,
})
