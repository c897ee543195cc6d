import {
  ConfigMap,
  Lease,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '@tenure/kube/kinds'
import { type OperatorRbac, rule, ruleForName } from '@tenure/runtime'
import { LEADER_LEASE } from './api/names.ts'

/** The caches. */
const READ_VERBS = ['list', 'watch']
/** The API server demands create for an apply that creates. */
const APPLY_VERBS = [...READ_VERBS, 'create', 'patch', 'delete']

/** Rows name their namespaces, so the rules hold in all of them. */
export const databasesRbac: OperatorRbac = {
  cluster: [
    rule(Namespace, [...READ_VERBS, 'create']),
    rule(StatefulSet, APPLY_VERBS),
    rule(Service, APPLY_VERBS),
    rule(ConfigMap, APPLY_VERBS),
    rule(PodDisruptionBudget, APPLY_VERBS),
    // Passwords are created once and never changed; labels are, and a Secret of another program is looked at.
    rule(Secret, ['get', ...READ_VERBS, 'create', 'patch', 'delete']),
    rule(PersistentVolumeClaim, [...READ_VERBS, 'patch', 'delete']),
    // A failing pod holds up the rollout of an adopted StatefulSet that is OrderedReady.
    rule(Pod, [...READ_VERBS, 'delete']),
  ],
  namespace: [rule(Lease, ['create']), ruleForName(Lease, LEADER_LEASE, ['get', 'update'])],
}
