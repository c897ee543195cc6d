import {
  ApiError,
  type ApiResource,
  asError,
  defineKind,
  type Kind,
  kindKey,
  type KubeApi,
  metadataOf,
  type PartialObjectMetadata,
  type Selection,
  type Stored,
} from '@tenure/kube'
import { type LeaseFamily } from '../api/annotations.ts'
import { defaultLeaseSettings } from '../api/types.ts'
import { hasInheritedAnnotations } from '../controllers/lease/inherited-annotations.ts'
import { planLease } from '../controllers/lease/plan.ts'
import { EXPIRED, NOT_PROCESSED } from '../controllers/lease/status.ts'
import { readTerms } from '../controllers/lease/terms.ts'
import { formatTime, parseTime } from '../api/time.ts'
import { resourceName } from '../changes/lease-target.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { kindNamed } from './named-object.ts'

/** One lease, as `tenure lease list -o json` prints it. */
export interface ListedLease {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** The TTL or the time, as the user wrote it. */
  readonly lease: string
  /** RFC 3339. Absent if the lease never expires, is invalid, or has no date yet. */
  readonly expireAt?: string
  /** Whether a lease controller has processed it. */
  readonly dated: boolean
  readonly status: string
  /** Why the object will not end as its lease says. Absent if it will, or never should. */
  readonly problem?: string
}

/** Concurrent list requests. */
const CONCURRENCY = 6
/** Kinds without these verbs cannot have leases. */
const NEEDED_VERBS = ['list', 'patch', 'delete']

/** Finds the leases of the selected kinds and namespaces, soonest first. Warns about kinds that cannot be listed. */
export async function findLeases(context: LeaseCliContext, options: LeaseCliOptions): Promise<readonly ListedLease[]> {
  const namespace = options.allNamespaces ? undefined : (options.namespace ?? context.namespace)
  // Cluster-scoped kinds belong to no namespace, so they are listed only when named.
  const isMeant = (kind: Kind): boolean => kind.namespaced || namespace === undefined || Boolean(options.kinds?.length)
  const kinds = (await chosenKinds(context, options)).filter(isMeant)
  const found = new Map<string, ListedLease>()
  const refused: { readonly kind: Kind; readonly error: Error }[] = []
  const queue = kinds.values()
  const worker = async (): Promise<void> => {
    for (const kind of queue) {
      try {
        // Some objects are served in two groups with the same uid.
        for (const [uid, lease] of await leasesOf(context, kind, {
          namespace: kind.namespaced ? namespace : undefined,
          labelSelector: options.selector,
        }))
          if (!found.has(uid)) found.set(uid, lease)
      } catch (error) {
        refused.push({ kind, error: asError(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  const [first] = refused
  if (first && refused.length === kinds.length) throw first.error
  const forbidden = refused.filter(({ error }) => isForbidden(error)).map(({ kind }) => resourceName(kind))
  if (forbidden.length > 0)
    context.warn(`You may not list ${forbidden.toSorted().join(', ')}: their leases are not shown.`)
  for (const { kind, error } of refused)
    if (!isForbidden(error)) context.warn(`${kindKey(kind)} could not be listed: ${error.message}`)
  return [...found.values()].toSorted(soonestFirst)
}

function isForbidden(error: Error): boolean {
  return error instanceof ApiError && error.status === 403
}

async function chosenKinds(context: LeaseCliContext, { kinds }: LeaseCliOptions): Promise<readonly Kind[]> {
  if (kinds?.length) return await Promise.all(kinds.map((name) => kindNamed(context, name)))
  const chosen = new Map<string, Kind>()
  for (const { name: group, versions } of await context.kinds.groups()) {
    for (const { version, resources, failure } of versions) {
      if (failure) context.warn(`Kinds of ${group}/${version} may be missing: ${failure.message}`)
      for (const resource of resources) {
        const key = `${resource.plural}.${group}`
        // The preferred version comes first.
        if (!chosen.has(key) && NEEDED_VERBS.every((verb) => resource.verbs.includes(verb)))
          chosen.set(key, kindOf(resource))
      }
    }
  }
  return [...chosen.values()]
}

function kindOf({ group, version, kind, plural, namespaced }: ApiResource): Kind {
  return defineKind({ apiVersion: group ? `${group}/${version}` : version, kind, plural, namespaced })
}

async function leasesOf(
  { api, clock, families = defaultLeaseSettings.families, pages = pagesFrom(api) }: LeaseCliContext,
  kind: Kind,
  selection: Selection,
): Promise<ReadonlyMap<string, ListedLease>> {
  const leases = new Map<string, ListedLease>()
  for await (const objects of pages(metadataOf(kind), selection)) {
    for (const object of objects) {
      const lease = leaseOf(object, kind, families, clock.now())
      if (lease) leases.set(object.metadata.uid, lease)
    }
  }
  return leases
}

function pagesFrom(api: KubeApi): NonNullable<LeaseCliContext['pages']> {
  return async function* read(kind, selection) {
    for await (const { items } of api.pages(kind, selection)) yield items
  }
}

/** Undefined if the object has no lease. */
function leaseOf(
  object: Stored<PartialObjectMetadata>,
  kind: Kind,
  families: readonly LeaseFamily[],
  now: number,
): ListedLease | undefined {
  const { name, namespace, annotations = {} } = object.metadata
  const termsOf = ({ names }: LeaseFamily): string | undefined => annotations[names.ttl] ?? annotations[names.expires]
  const family = families.find((candidate) => termsOf(candidate) !== undefined)
  if (!family || hasInheritedAnnotations(object)) return undefined
  const { lease, startsNow } = planLease(object, { families }, kind.namespaced, now)
  const status = annotations[family.names.status]
  const problem = problemOf(object, kind, family, now)
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    ...(namespace !== undefined && { namespace }),
    name,
    lease: termsOf(family) ?? '',
    // A lease that starts when a controller processes it has no expiry before that.
    ...(lease && !startsNow && { expireAt: formatTime(lease.expireAt) }),
    dated: status !== undefined,
    status: status ?? NOT_PROCESSED,
    ...(problem !== undefined && { problem }),
  }
}

/** Milliseconds that a lease controller may take. */
const MAX_DELAY_MS = 60_000

/** Why an object will not end as its lease says; undefined if it will, or never should. */
function problemOf(
  object: Stored<PartialObjectMetadata>,
  kind: Kind,
  family: LeaseFamily,
  now: number,
): string | undefined {
  const { annotations = {}, creationTimestamp } = object.metadata
  const terms = readTerms(object, family, kind.namespaced, now)
  if (terms.state === 'invalid') return `Invalid TTL: ${terms.reason}`
  const status = annotations[family.names.status]
  if (status === undefined)
    return now - (parseTime(creationTimestamp) ?? now) < MAX_DELAY_MS ? undefined : unprocessed(kind)
  if (terms.state === 'forever' || now - terms.expireAt < MAX_DELAY_MS) return undefined
  return status.startsWith(EXPIRED) ? status : `${EXPIRED} No lease controller has deleted it.`
}

function unprocessed(kind: Kind): string {
  return `${NOT_PROCESSED} Is there a LeaseController for ${resourceName(kind)}?`
}

function soonestFirst(a: ListedLease, b: ListedLease): number {
  const end = (lease: ListedLease): string => lease.expireAt ?? '~'
  const name = ({ kind, namespace = '', name }: ListedLease): string => `${kind}/${namespace}/${name}`
  return compare(end(a), end(b)) || compare(name(a), name(b))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
