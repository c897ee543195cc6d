import type { KubeObject, Stored } from '@tenure/kube'
import type { ResourceRow } from '../../api/rows.ts'
import type { DatabaseState } from './state.ts'

export const TEST_NAMES = { name: 'orders', namespace: 'nest-team-1' } as const

export function testRow(fields: Partial<ResourceRow> = {}): ResourceRow {
  return {
    id: '7',
    name: TEST_NAMES.name,
    type: 'redis',
    teamId: '1',
    teamName: undefined,
    status: 'active',
    lifecycleMode: 'full',
    namespace: undefined,
    resourceName: undefined,
    config: {},
    connectionInfo: {},
    credentials: {},
    deletedAt: undefined,
    createdBy: undefined,
    generation: '1',
    observedGeneration: undefined,
    job: undefined,
    lastJob: undefined,
    ...fields,
  }
}

export const EMPTY_STATE: DatabaseState = {
  namespace: undefined,
  statefulSet: undefined,
  secret: undefined,
  configMap: undefined,
  clientService: undefined,
  headlessService: undefined,
  podDisruptionBudget: undefined,
  pods: [],
  claims: [],
  deletedSecret: undefined,
  displaced: undefined,
  rival: undefined,
}

/** An object as the cache holds it, with the labels of a row's objects. */
export function testObject<T extends KubeObject>(name: string, owner: string | undefined, fields: Omit<T, 'metadata'>) {
  const labels = { app: TEST_NAMES.name, 'managed-by': 'nest-controller', ...(owner && { 'resource-id': owner }) }
  const metadata = {
    name,
    namespace: TEST_NAMES.namespace,
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: '',
  }
  return { ...fields, metadata: { ...metadata, labels } } as unknown as Stored<T>
}
