import type { Stored } from '@tenure/kube'
import type {
  ConfigMap,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '@tenure/kube/kinds'
import type { SecretData } from '../../objects/credentials.ts'

/** The objects of one database in the cluster, as the caches show them. */
export interface DatabaseState {
  readonly namespace: Stored<Namespace> | undefined
  readonly statefulSet: Stored<StatefulSet> | undefined
  readonly secret: Stored<Secret> | undefined
  readonly configMap: Stored<ConfigMap> | undefined
  readonly clientService: Stored<Service> | undefined
  readonly headlessService: Stored<Service> | undefined
  readonly podDisruptionBudget: Stored<PodDisruptionBudget> | undefined
  /** Pods with the label `app=<name>`. */
  readonly pods: readonly Stored<Pod>[]
  /** Volume claims with the label `app=<name>`. */
  readonly claims: readonly Stored<PersistentVolumeClaim>[]
  /** The data of the Secret if it was deleted while this process watched; the server still has that password. */
  readonly deletedSecret: SecretData | undefined
  /** The id of an earlier row with the same name in the same namespace. */
  readonly rival: string | undefined
}
