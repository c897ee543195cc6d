import type { ResourceRow } from '../../api/rows.ts'
import type { DatabaseNames } from '../../config/names.ts'
import { objectNames } from '../../objects/names.ts'

/**
 * The names under which the database of a row runs, if the row has others now. `found` are the names of all objects with
 * the row's id; undefined `names` are refused ones. Pure.
 *
 * An id alone is not proof: another platform may have a row with that id, in the same cluster, and after a failover to an
 * older copy a new row gets the id of a lost one. What the operator wrote into the row is; before its first report, a name
 * that the row still has, but for a deletion not the namespace alone.
 */
export function displacedNames(
  row: ResourceRow,
  names: DatabaseNames | undefined,
  found: readonly DatabaseNames[],
): DatabaseNames | undefined {
  // Without a trace of earlier work the row is new.
  if (row.job === undefined && row.resourceName === undefined && row.observedGeneration === undefined) return undefined
  if (found.some((place) => isSame(place, names))) return undefined
  const namespace = reportedNamespace(row)
  const name = reportedName(row)
  const own = found.filter((place) =>
    namespace === undefined
      ? place.name === names?.name || (row.deletedAt === undefined && place.namespace === names?.namespace)
      : place.namespace === namespace && place.name === (name ?? place.name),
  )
  return own.toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1))[0]
}

export function moveReason({ name, namespace }: DatabaseNames, names: DatabaseNames): string {
  const back = [
    ...(namespace === names.namespace ? [] : [`k8s_namespace back to ${namespace}`]),
    ...(name === names.name ? [] : [`k8s_resource_name back to ${name}`]),
  ]
  return (
    `The database runs in namespace ${namespace} as ${name} and cannot move. Set ${back.join(' and ')}, ` +
    'or delete the resource and create another.'
  )
}

/** The namespace in the report of the operator: that of the Secret, or of the host. */
function reportedNamespace({ connectionInfo, credentials }: ResourceRow): string | undefined {
  const { secret_namespace: namespace } = credentials
  if (typeof namespace === 'string') return namespace
  const { host } = connectionInfo
  return typeof host === 'string' ? /^[^.]+\.([^.]+)\.svc$/.exec(host)?.[1] : undefined
}

/** The name in the report of the operator, if it made the Service and the Secret; an adopted database has those it had. */
function reportedName({ connectionInfo, credentials }: ResourceRow): string | undefined {
  const { service_name: name } = connectionInfo
  return typeof name === 'string' && credentials['secret_name'] === objectNames(name).secret ? name : undefined
}

function isSame(a: DatabaseNames, b: DatabaseNames | undefined): boolean {
  return a.name === b?.name && a.namespace === b.namespace
}
