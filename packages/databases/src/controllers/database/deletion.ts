import type { KubeObject, Stored } from '@tenure/kube'
import { ConfigMap, PersistentVolumeClaim, PodDisruptionBudget, Secret, Service, StatefulSet } from '@tenure/kube/kinds'
import { type Actions, remove } from '@tenure/runtime'
import { RESOURCE_ID_LABEL } from '../../api/names.ts'
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
  const claims = deletesData(row) && !isTaken(row, state) ? state.claims : []
  const pods = isTaken(row, state) ? [] : state.pods
  const actions: Actions = [
    isOwn(statefulSet) && remove(StatefulSet, statefulSet),
    ...services.map((service) => remove(Service, service)),
    isOwn(configMap) && remove(ConfigMap, configMap),
    isOwn(podDisruptionBudget) && remove(PodDisruptionBudget, podDisruptionBudget),
    // The pods read the Secret until they are gone.
    pods.length === 0 && isOwn(secret) && remove(Secret, secret),
    ...claims.map((claim) => remove(PersistentVolumeClaim, claim)),
  ]
  const isGone =
    ![statefulSet, configMap, podDisruptionBudget, secret].some((object) => isOwn<KubeObject>(object)) &&
    services.length === 0 &&
    claims.length === 0 &&
    pods.length === 0
  return { actions, isGone }
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
