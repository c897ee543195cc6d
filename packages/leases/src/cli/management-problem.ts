import { ApiError, isNotFound, type Kind, metadataOf, type Stored } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import { LeaseController } from '../api/lease-controller.ts'
import { type LeaseTarget, resourceName } from '../changes/lease-target.ts'
import { managersOf } from '../changes/managers.ts'
import type { LeaseCliContext } from './context.ts'

/** Why the lease of an object would never end, and what to do; undefined if a LeaseController manages it. */
export async function managementProblem(context: LeaseCliContext, object: LeaseTarget): Promise<string | undefined> {
  const { kind, label, ref } = object
  const all = await readLeaseControllers(context)
  if (all === undefined)
    return `It is unknown whether ${label} expires: you may not list LeaseControllers. Its lease-status shows it soon.`
  const managers = managersOf(all, kind, await context.kinds.groups())
  if (managers.length === 0) return unmanaged(kind)
  const problems = await Promise.all(managers.map((manager) => problemOf(context, manager, ref.namespace)))
  const [first] = problems
  return problems.includes(undefined) || first === undefined ? undefined : `But ${label} stays: ${first}`
}

/** Undefined if they cannot be read. Empty if the kind is not installed. */
async function readLeaseControllers({ api }: LeaseCliContext): Promise<readonly Stored<LeaseController>[] | undefined> {
  try {
    return (await api.list(LeaseController)).items
  } catch (error) {
    if (isNotFound(error)) return []
    if (error instanceof ApiError && error.status === 403) return undefined
    throw error
  }
}

function unmanaged(kind: Kind): string {
  return [
    `But nothing deletes it then: no LeaseController manages ${resourceName(kind)}, unless tenure leases runs for this kind.`,
    'Its end counts, even if it has passed by then, as soon as you apply one:',
    '',
    `apiVersion: ${LeaseController.apiVersion}`,
    'kind: LeaseController',
    'metadata:',
    `  name: ${resourceName(kind)}`,
    'spec:',
    `  group: ${kind.group === '' ? "''" : kind.group}`,
    `  version: ${kind.version}`,
    `  kind: ${kind.kind}`,
  ].join('\n')
}

/** Why a LeaseController does not delete objects of a namespace; undefined if it does. */
async function problemOf(
  context: LeaseCliContext,
  { metadata, spec, status }: Stored<LeaseController>,
  namespace: string | undefined,
): Promise<string | undefined> {
  const name = `LeaseController ${metadata.name}`
  if (spec.suspend) return `${name} is suspended. Remove suspend from its spec.`
  if (spec.dryRun) return `${name} has dryRun. Remove that from its spec.`
  if (spec.optIn && namespace !== undefined && !(await hasLabel(context, namespace, spec.optIn))) {
    const { key, value } = spec.optIn
    const label = `${key}=${value ?? 'true'}`
    return `${name} manages only namespaces with a label. Add it: kubectl label namespace ${namespace} ${label}`
  }
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  return available?.status === 'False' ? `${name} is not available. ${available.message}` : undefined
}

async function hasLabel(
  { api }: LeaseCliContext,
  namespace: string,
  { key, value }: { readonly key: string; readonly value?: string },
): Promise<boolean> {
  try {
    const { labels = {} } = (await api.get(metadataOf(Namespace), { name: namespace })).metadata
    return labels[key] !== undefined && (value === undefined || labels[key] === value)
  } catch (error) {
    // Without the right to read the namespace, assume that it matches.
    if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) return true
    throw error
  }
}
