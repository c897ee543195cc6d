import { asString } from '@tenure/kube/model'

import { asJsonObjects } from '../../model/json.ts'
import { nameAndAge, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { CONFIG_MAPS } from './config-map.ts'
import { ENDPOINTS } from './endpoints.ts'
import { LIMIT_RANGES } from './limit-range.ts'
import { NAMESPACES } from './namespace.ts'
import { NODES } from './node.ts'
import { POD_TEMPLATES } from './pod-template.ts'
import { PODS } from './pod/pod.ts'
import { REPLICATION_CONTROLLERS } from './replication-controller.ts'
import { RESOURCE_QUOTAS } from './resource-quota.ts'
import { SECRETS } from './secret.ts'
import { PERSISTENT_VOLUME_CLAIMS } from './volume/persistent-volume-claim.ts'
import { PERSISTENT_VOLUMES } from './volume/persistent-volume.ts'

/** Kinds of the core group. */
export const CORE: KindTable = {
  ...CONFIG_MAPS,
  ...SECRETS,
  ...NAMESPACES,
  ...ENDPOINTS,
  ...NODES,
  ...LIMIT_RANGES,
  ...RESOURCE_QUOTAS,
  ...PODS,
  ...POD_TEMPLATES,
  ...REPLICATION_CONTROLLERS,
  ...PERSISTENT_VOLUMES,
  ...PERSISTENT_VOLUME_CLAIMS,
  serviceaccounts: {
    columns: nameAndAge,
    rules: { generation: false, returnsDeletedObject: true },
  },
  componentstatuses: {
    deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
    columns: (object) => {
      const [condition = {}] = asJsonObjects(object['conditions'])
      const status = condition['status'] === 'True' ? 'Healthy' : 'Unhealthy'
      return [nameOf(object), status, asString(condition['message']), asString(condition['error'])]
    },
  },
}
