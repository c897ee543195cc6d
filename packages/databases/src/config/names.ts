import { dns1035Label, dnsLabel } from '@tenure/kube/model'
import type { ResourceRow } from '../api/rows.ts'
import { shownValue } from './fields.ts'

/**
 * Longer names make invalid labels: the StatefulSet controller labels pods with the name and the hash of their revision,
 * 11 characters more, and a label has at most 63.
 */
export const MAX_NAME_LENGTH = 52

export interface DatabaseNames {
  readonly name: string
  readonly namespace: string
}

/**
 * The names of a row's objects. `k8s_resource_name`, which the operator writes, wins over the row's name: a row that is
 * renamed keeps its database.
 */
export function databaseNames(
  row: Pick<ResourceRow, 'name' | 'resourceName' | 'namespace' | 'teamId'>,
  namespacePrefix: string,
): DatabaseNames | { readonly refused: string } {
  const name = row.resourceName ?? row.name
  const [problem] = dns1035Label(name)
  if (problem !== undefined) return { refused: `Name ${shownValue(name)} cannot name a Service: ${problem}.` }
  if (name.length > MAX_NAME_LENGTH) {
    return { refused: `Name ${shownValue(name)} is too long: it must have no more than ${MAX_NAME_LENGTH} characters.` }
  }
  if (row.namespace === undefined && row.teamId === undefined) {
    return { refused: 'The resource has no team and no k8s_namespace: set one of them.' }
  }
  const namespace = row.namespace ?? `${namespacePrefix}${row.teamId}`
  const [wrong] = dnsLabel(namespace)
  if (wrong !== undefined) return { refused: `Namespace ${shownValue(namespace)} is not valid: ${wrong}.` }
  return { name, namespace }
}
