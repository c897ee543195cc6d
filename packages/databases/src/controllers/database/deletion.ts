import type { KubeObject, Stored } from '@tenure/kube'
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '@tenure/kube/kinds'
import { type Actions, remove } from '@tenure/runtime'
import { MANAGED_BY_LABEL, OPERATOR, RESOURCE_ID_LABEL } from '../../api/names.ts'
import type { ResourceRow } from '../../api/rows.ts'
import type { DatabaseState } from './state.ts'

export interface DeletionPlan {
  readonly actions: Actions
  /** Nothing of the database is left, but for volumes that are kept. */
  readonly isGone: boolean
}

/** Deletes what belongs to a row. Volumes stay unless the row says `delete_data`. */
export function planDeletion(row: ResourceRow, state: DatabaseState): DeletionPlan {
  const { clientService, configMap, headlessService, podDisruptionBudget, secret, statefulSet } = state
  const isOwn = <T extends KubeObject>(object: Stored<T> | undefined): object is Stored<T> =>
    object?.metadata.labels?.[RESOURCE_ID_LABEL] === row.id
  const services = [clientService, headlessService].filter(isOwn)
  // A row that never had a database must not delete the data that an earlier one of its name left.
  const hadData = isOwn(statefulSet) || row.resourceName !== undefined || row.observedGeneration !== undefined
  const claims = deletesData(row) && hadData && !isTaken(row, state) ? state.claims : []
  const pods = isTaken(row, state) ? [] : state.pods
  const hasSecret = isOwn(secret) || (hadData && !isTaken(row, state) && isManagedSecret(secret))
  const actions: Actions = [
    isOwn(statefulSet) && remove(StatefulSet, statefulSet),
    ...services.map((service) => remove(Service, service)),
    isOwn(configMap) && remove(ConfigMap, configMap),
    isOwn(podDisruptionBudget) && remove(PodDisruptionBudget, podDisruptionBudget),
    // The pods read the Secret until they are gone.
    pods.length === 0 && hasSecret && secret !== undefined && remove(Secret, secret),
    // A StatefulSet that was to be recreated has left its pods behind.
    ...pods
      .filter(
        ({ metadata }) => metadata.ownerReferences === undefined && metadata.labels?.[RESOURCE_ID_LABEL] === row.id,
      )
      .map((pod) => remove(Pod, pod)),
    ...claims.map((claim) => remove(PersistentVolumeClaim, claim)),
  ]
  const isGone =
    ![statefulSet, configMap, podDisruptionBudget].some((object) => isOwn<KubeObject>(object)) &&
    !hasSecret &&
    services.length === 0 &&
    claims.length === 0 &&
    pods.length === 0
  return { actions, isGone }
}

/** A Secret with the id of an earlier row was restored for this one: the pods read it by its name. */
function isManagedSecret(secret: DatabaseState['secret']): boolean {
  return secret?.metadata.labels?.[MANAGED_BY_LABEL] === OPERATOR
}

/** Whether the name belongs to another row now, or to a StatefulSet that was never this row's. */
function isTaken(row: ResourceRow, { rival, statefulSet }: DatabaseState): boolean {
  return (
    rival !== undefined || (statefulSet !== undefined && statefulSet.metadata.labels?.[RESOURCE_ID_LABEL] !== row.id)
  )
}

function deletesData({ config }: ResourceRow): boolean {
  return config['delete_data'] === true || config['delete_data'] === 'true'
}
