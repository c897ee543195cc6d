import type { View } from '@tenure/http'
import type { Kind, PartialObjectMetadata, Stored } from '@tenure/kube'
import type { InformerEvent } from '@tenure/runtime'
import { z } from 'zod'
import type { LeaseFamily } from '../../api/annotations.ts'
import { parseTime } from '../../api/time.ts'
import { resourceName } from '../../changes/lease-target.ts'
import { hasInheritedAnnotations } from '../../controllers/lease/inherited-annotations.ts'
import type { LeaseCache, LeaseCaches } from '../../controllers/lease/lease-caches.ts'
import { NOT_PROCESSED } from '../../controllers/lease/status.ts'
import { isLeased } from '../../controllers/lease/terms.ts'

const schema = z.object({
  id: z.string(),
  apiVersion: z.string(),
  kind: z.string(),
  plural: z.string(),
  group: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  /** The TTL or the time of expiry, as its user wrote it. */
  ttl: z.string(),
  leaseStart: z.int().optional(),
  /** Absent if the lease never expires, is invalid, or was not processed yet. */
  expiresAt: z.int().optional(),
  status: z.string(),
  createdAt: z.int(),
})

export type LeaseRow = z.output<typeof schema>

type Leased = Stored<PartialObjectMetadata>

const [readCreation, readStart, readEnd] = [timeReader(), timeReader(), timeReader()]

/** The leased objects of all kinds whose lease controllers run in this process. A row is made when it is read, and not kept. */
export function leasesView(caches: LeaseCaches, families: readonly LeaseFamily[]): View<LeaseRow> {
  const hasLease = (object: Leased): boolean => familyOf(object, families) !== undefined
  return {
    name: 'leases',
    title: 'Leases',
    schema,
    resourceOf: ({ group, plural }) => ({ group, resource: plural }),
    *rows() {
      for (const { cache, kind } of caches.values()) {
        for (const object of cache.list()) {
          const row = rowOf(kind, object, families)
          if (row) yield row
        }
      }
    },
    row(id) {
      const [resource = '', namespace = '', name = ''] = id.split('/')
      const { cache, kind } = caches.get(resource) ?? {}
      const object = cache?.get(namespace === '' ? { name } : { name, namespace })
      return object && kind && rowOf(kind, object, families)
    },
    subscribe(listener) {
      const follow = ({ kind }: LeaseCache) => {
        return (event: InformerEvent<PartialObjectMetadata>): void => {
          const concerns = hasLease(event.object) || (event.type === 'modified' && hasLease(event.old))
          if (concerns) listener(idOf(kind, event.object))
        }
      }
      const ends = new Map<LeaseCache, () => void>()
      for (const cache of caches.values()) ends.set(cache, cache.subscribe(follow(cache), { replay: false }))
      const endChanges = caches.onChange((cache, isAdded) => {
        if (isAdded) ends.set(cache, cache.subscribe(follow(cache)))
        else {
          ends.get(cache)?.()
          ends.delete(cache)
          for (const object of cache.cache.list()) if (hasLease(object)) listener(idOf(cache.kind, object))
        }
      })
      return () => {
        endChanges()
        for (const end of ends.values()) end()
      }
    },
  }
}

/** Unique among all kinds; no part of it has a slash. */
function idOf(kind: Kind, { metadata: { name, namespace = '' } }: Leased): string {
  return `${resourceName(kind)}/${namespace}/${name}`
}

/** Undefined if lease controllers ignore the object. */
function familyOf(object: Leased, families: readonly LeaseFamily[]): LeaseFamily | undefined {
  const { annotations } = object.metadata
  const family = annotations && families.find((each) => isLeased(annotations, each))
  return family && !hasInheritedAnnotations(object) ? family : undefined
}

/** Undefined if the object has no lease. */
function rowOf(kind: Kind, object: Leased, families: readonly LeaseFamily[]): LeaseRow | undefined {
  const family = familyOf(object, families)
  if (!family) return undefined
  const { annotations = {}, creationTimestamp, name, namespace } = object.metadata
  const { names } = family
  const createdAt = readCreation(creationTimestamp) ?? 0
  // The date that a lease controller wrote: the end that counts.
  const expiresAt = readEnd(annotations[names.expireAt])
  // Without a start, a lease that has an end runs from the creation of its object.
  const leaseStart = readStart(annotations[names.start]) ?? (expiresAt === undefined ? undefined : createdAt)
  return {
    id: idOf(kind, object),
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    plural: kind.plural,
    group: kind.group,
    ...(namespace !== undefined && { namespace }),
    name,
    ttl: annotations[names.ttl] ?? annotations[names.expires] ?? '',
    ...(leaseStart !== undefined && { leaseStart }),
    ...(expiresAt !== undefined && { expiresAt }),
    status: annotations[names.status] ?? NOT_PROCESSED,
    createdAt,
  }
}

/** Parsing is most of the work of a row. Objects that were made together have equal times, so the last one is remembered. */
function timeReader(): (text: string | undefined) => number | undefined {
  let lastText: string | undefined
  let last: number | undefined
  return (text) => {
    if (text !== lastText) {
      lastText = text
      last = text === undefined ? undefined : parseTime(text)
    }
    return last
  }
}
