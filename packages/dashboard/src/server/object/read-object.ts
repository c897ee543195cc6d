import { ApiError, type Kind, type KubeObject, metadataOf, TenureError } from '@tenure/kube'
import {
  ConfigMap,
  CoreEvent,
  Deployment,
  Job,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Secret,
  Service,
  StatefulSet,
} from '@tenure/kube/kinds'
import { HttpError, notFound, type RequestHead } from '@tenure/http'
import type { ManagerContext } from '@tenure/runtime'
import { childrenOf, type Found, nodeOf, type ObjectNode, type ObjectNodeWithOwners } from './node.ts'

export interface ObjectAddress {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}

export type ObjectContext = Pick<ManagerContext, 'api' | 'discovery'>

type Authorize = RequestHead['authorize']

/** Kinds that the objects of this suite own, with a status that people ask about. */
const WITH_STATUS: readonly Kind[] = [Deployment, ReplicaSet, StatefulSet, Pod, Job, PersistentVolumeClaim]
/** Kinds of which only the metadata is read: they have no status, or hold secrets. */
const METADATA_ONLY: readonly Kind[] = [Service, ConfigMap, Secret]
/** A namespace may have more objects of a kind than one page should read. */
const MAX_OBJECTS_PER_KIND = 2_000
const MAX_OWNERS = 8
const MAX_EVENTS = 50

/** Reads an object with the caller's permissions. Rejects with a 404 or 403. */
export async function readObject(
  { api, discovery }: ObjectContext,
  address: ObjectAddress,
  authorize: Authorize,
): Promise<Found> {
  const { apiVersion, kind: name, namespace } = address
  const kind = await kindOf(discovery, apiVersion, name)
  await authorize({ group: kind.group, resource: kind.plural, verb: 'get', namespace, name: address.name })
  try {
    return found(kind, await api.get(kind, { name: address.name, ...(namespace !== undefined && { namespace }) }))
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw notFound(`There is no ${name} ${address.name}`)
    throw error
  }
}

async function kindOf(discovery: ObjectContext['discovery'], apiVersion: string, kind: string): Promise<Kind> {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion]
  try {
    return await discovery.kind({ group: group ?? '', version: version ?? '', kind })
  } catch (error) {
    if (error instanceof TenureError && error.code === 'TENURE_KIND_UNKNOWN') {
      throw notFound(`The API server has no kind ${kind} in ${apiVersion}`)
    }
    throw error
  }
}

const found = (kind: Kind, object: KubeObject): Found => ({ ...object, apiVersion: kind.apiVersion, kind: kind.kind })

/** From the direct owner to the root. An owner that the caller may not see ends the list with its name. */
export async function ownersOf(
  context: ObjectContext,
  object: Found,
  authorize: Authorize,
): Promise<readonly ObjectNode[]> {
  const owners: ObjectNode[] = []
  const { namespace } = object.metadata ?? {}
  let current: Found | undefined = object
  while (current && owners.length < MAX_OWNERS) {
    const reference = directOwner(current)
    if (!reference) break
    const { apiVersion, kind, name, uid } = reference
    current = await unlessRefused(readObject(context, { apiVersion, kind, name, namespace }, authorize))
    owners.push(
      current ? nodeOf(current, true) : { apiVersion, kind, ...(namespace !== undefined && { namespace }), name, uid },
    )
  }
  return owners
}

function directOwner({ metadata }: Found) {
  const references = metadata?.ownerReferences ?? []
  return references.find(({ controller }) => controller) ?? references[0]
}

/** The objects that it owns, as far as the caller and the operator may list them. */
export async function ownedBy(
  context: ObjectContext,
  { metadata }: Found,
  authorize: Authorize,
): Promise<readonly ObjectNode[]> {
  const { namespace, uid } = metadata ?? {}
  if (namespace === undefined || uid === undefined) return []
  const lists = await Promise.all([
    ...WITH_STATUS.map((kind) => listOf(context, kind, { namespace, withStatus: true }, authorize)),
    ...METADATA_ONLY.map((kind) => listOf(context, metadataOf(kind), { namespace, withStatus: false }, authorize)),
  ])
  return childrenOf(uid, lists.flat())
}

async function listOf(
  { api }: ObjectContext,
  kind: Kind,
  { namespace, withStatus }: { readonly namespace: string; readonly withStatus: boolean },
  authorize: Authorize,
): Promise<readonly ObjectNodeWithOwners[]> {
  const read = async () => {
    await authorize({ group: kind.group, resource: kind.plural, verb: 'list', namespace })
    return (await api.list(kind, { namespace, limit: MAX_OBJECTS_PER_KIND })).items
  }
  const items = (await unlessRefused(read())) ?? []
  return items
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0)
    .map((item) => ({
      node: nodeOf(found(kind, item), withStatus),
      owners: (item.metadata.ownerReferences ?? []).map(({ uid }) => uid),
    }))
}

export interface ObjectEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly lastTimestamp: string
  readonly source: string
}

/** The newest events first. */
export async function eventsOf(
  { api }: ObjectContext,
  { metadata }: Found,
  authorize: Authorize,
): Promise<readonly ObjectEvent[]> {
  const { namespace = 'default', uid = '' } = metadata ?? {}
  const read = async () => {
    await authorize({ group: '', resource: 'events', verb: 'list', namespace })
    return (await api.list(CoreEvent, { namespace, fieldSelector: `involvedObject.uid=${uid}` })).items
  }
  const items = (await unlessRefused(read())) ?? []
  return items
    .map((event) => ({
      type: event.type ?? 'Normal',
      reason: event.reason ?? '',
      message: event.message ?? '',
      count: event.count ?? event.series?.count ?? 1,
      lastTimestamp: event.lastTimestamp ?? event.series?.lastObservedTime ?? event.eventTime ?? '',
      source: event.source?.component ?? event.reportingComponent ?? '',
    }))
    .toSorted((a, b) => (a.lastTimestamp < b.lastTimestamp ? 1 : -1))
    .slice(0, MAX_EVENTS)
}

/** Undefined for what the caller or the operator may not see, or what is gone: the rest is still worth showing. */
async function unlessRefused<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    const isRefused =
      (error instanceof HttpError || error instanceof ApiError) && (error.status === 403 || error.status === 404)
    if (isRefused) return undefined
    throw error
  }
}
