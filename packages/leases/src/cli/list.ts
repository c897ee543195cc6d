import {
  type ApiResource,
  asError,
  defineKind,
  type Kind,
  kindKey,
  metadataOf,
  type PartialObjectMetadata,
  type Stored,
  TenureError,
} from '@tenure/kube'
import { fromNow, table } from '@tenure/runtime/cli'
import { type LeaseFamily } from '../api/annotations.ts'
import { defaultLeaseSettings } from '../api/types.ts'
import { hasInheritedAnnotations } from '../controllers/lease/inherited-annotations.ts'
import { planLease } from '../controllers/lease/plan.ts'
import { NOT_PROCESSED } from '../controllers/lease/status.ts'
import { formatTime } from '../api/time.ts'
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
}

/** Concurrent list requests. */
const CONCURRENCY = 6
/** Kinds without these verbs cannot have leases. */
const NEEDED_VERBS = ['list', 'patch', 'delete']

/** Prints the leases of all kinds, soonest expiry first. */
export async function listLeases(context: LeaseCliContext, options: LeaseCliOptions): Promise<void> {
  const output = options.output ?? 'table'
  if (output !== 'table' && output !== 'json') {
    throw new TenureError('TENURE_LEASE_ARGUMENT', `"${output}" is not an output format: use table or json.`)
  }
  const leases = await findLeases(context, options)
  if (output === 'json') context.write(JSON.stringify({ items: leases }, undefined, 2))
  else if (leases.length === 0) context.warn('No leases found.')
  else context.write(asTable(leases, context.clock.now()))
}

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
        for (const [uid, lease] of await leasesOf(context, kind, kind.namespaced ? namespace : undefined))
          if (!found.has(uid)) found.set(uid, lease)
      } catch (error) {
        refused.push({ kind, error: asError(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  const [first] = refused
  if (first && refused.length === kinds.length) throw first.error
  for (const { kind, error } of refused) context.warn(`${kindKey(kind)} could not be listed: ${error.message}`)
  return [...found.values()].toSorted(soonestFirst)
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
  { api, clock, families = defaultLeaseSettings.families }: LeaseCliContext,
  kind: Kind,
  namespace: string | undefined,
): Promise<ReadonlyMap<string, ListedLease>> {
  const leases = new Map<string, ListedLease>()
  for await (const { items } of api.pages(metadataOf(kind), { namespace })) {
    for (const object of items) {
      const lease = leaseOf(object, kind, families, clock.now())
      if (lease) leases.set(object.metadata.uid, lease)
    }
  }
  return leases
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
  }
}

function soonestFirst(a: ListedLease, b: ListedLease): number {
  const end = (lease: ListedLease): string => lease.expireAt ?? '~'
  const name = ({ kind, namespace = '', name }: ListedLease): string => `${kind}/${namespace}/${name}`
  return compare(end(a), end(b)) || compare(name(a), name(b))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function asTable(leases: readonly ListedLease[], now: number): string {
  const rows = leases.map(({ kind, namespace, name, lease, expireAt, status }) => [
    expireAt === undefined ? '-' : fromNow(Date.parse(expireAt), now),
    expireAt ?? '-',
    kind,
    namespace ?? '-',
    name,
    lease,
    // The columns before show that it is active and until when.
    status.replace(/^Lease active\.( Expires at \S+ UTC\.)?\s*/, '') || 'Active.',
  ])
  return table(['EXPIRES', 'AT', 'KIND', 'NAMESPACE', 'NAME', 'LEASE', 'STATUS'], rows)
}
