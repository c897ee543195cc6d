import {
  ConfigMap,
  Event,
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

const READ_VERBS = ['get', 'list', 'watch']
const APPLY_VERBS = [...READ_VERBS, 'create', 'patch', 'delete']

/** Rows name their namespaces, so the rules hold in all of them. */
export const databasesRbac: OperatorRbac = {
  cluster: [
    rule(Namespace, [...READ_VERBS, 'create']),
    rule(StatefulSet, APPLY_VERBS),
    rule(Service, APPLY_VERBS),
    rule(ConfigMap, APPLY_VERBS),
    rule(PodDisruptionBudget, APPLY_VERBS),
    // Passwords are created once and never changed.
    rule(Secret, [...READ_VERBS, 'create', 'delete']),
    rule(PersistentVolumeClaim, [...READ_VERBS, 'patch', 'delete']),
    rule(Pod, [...READ_VERBS, 'delete']),
  ],
  namespace: [
    rule(Event, ['create', 'patch']),
    rule(Lease, ['create']),
    ruleForName(Lease, LEADER_LEASE, ['get', 'update']),
  ],
}
