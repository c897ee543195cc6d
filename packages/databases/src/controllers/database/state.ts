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
import type { DatabaseNames } from '../../config/names.ts'

/** The objects of one database in the cluster, as the caches show them. */
export interface DatabaseState {
  readonly namespace: Stored<Namespace> | undefined
  readonly statefulSet: Stored<StatefulSet> | undefined
  readonly secret: Stored<Secret> | undefined
  readonly configMap: Stored<ConfigMap> | undefined
  readonly clientService: Stored<Service> | undefined
  readonly headlessService: Stored<Service> | undefined
  readonly podDisruptionBudget: Stored<PodDisruptionBudget> | undefined
  /** Pods of a StatefulSet of that name, also of one that is gone. */
  readonly pods: readonly Stored<Pod>[]
  /** Volume claims of a StatefulSet of that name, also of one that is gone. */
  readonly claims: readonly Stored<PersistentVolumeClaim>[]
  /** The Secret if it was deleted while this process watched; the server still has that password. */
  readonly deletedSecret: Stored<Secret> | undefined
  /** Where the row's database runs, if the row has other names now. */
  readonly displaced: DatabaseNames | undefined
  /** The id of an earlier row with the same name in the same namespace. */
  readonly rival: string | undefined
}
