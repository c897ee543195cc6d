import type { PersistentVolumeClaim, StatefulSet } from '@tenure/kube/kinds'
import { compareQuantities, parseQuantity } from '@tenure/kube/model'
import type { DatabaseConfig } from '../config/database-config.ts'
import { DATA_VOLUME } from './names.ts'

export interface ClaimGrowth {
  readonly name: string
  readonly from: string
  readonly to: string
}

export interface StorageGrowth {
  /** Claims to patch, in the order of their pods. */
  readonly grow: readonly ClaimGrowth[]
  /** Claims that the API server does not let grow yet, because no volume is bound to them. */
  readonly unbound: readonly string[]
  /** The StatefulSet's template has another size: delete it with orphaned pods, then create it. */
  readonly recreate: boolean
}

export type StoragePlan = StorageGrowth | { readonly refused: string }

const requestedBy = (claim: PersistentVolumeClaim | undefined): string | undefined =>
  claim?.spec?.resources?.requests?.['storage']

const isLess = (a: string, b: string): boolean => compareQuantities(parseQuantity(a), parseQuantity(b)) < 0

/** The template of the data volume: the one named `data`, or the only one. */
export function dataTemplate(statefulSet: StatefulSet): PersistentVolumeClaim | undefined {
  const templates = statefulSet.spec?.volumeClaimTemplates ?? []
  return templates.find(({ metadata }) => metadata?.name === DATA_VOLUME) ?? (templates[1] ? undefined : templates[0])
}

/** The claims that the StatefulSet made from its data template, in the order of their pods. */
export function dataClaims(
  statefulSet: StatefulSet,
  claims: readonly PersistentVolumeClaim[],
): readonly PersistentVolumeClaim[] {
  const prefix = `${dataTemplate(statefulSet)?.metadata?.name}-${statefulSet.metadata?.name}-`
  const ordinal = (claim: PersistentVolumeClaim): number => {
    const name = claim.metadata?.name ?? ''
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    return /^\d+$/.test(rest) ? Number(rest) : -1
  }
  return claims
    .filter((claim) => ordinal(claim) >= 0 && claim.metadata?.deletionTimestamp === undefined)
    .toSorted((a, b) => ordinal(a) - ordinal(b))
}

/**
 * Compares the volumes of a running database with `storage_size`. Every step is found again after a crash: claims that
 * grew already are left out, and the template is compared on its own. Claims that are larger than the template, because a
 * person enlarged them, stay as they are.
 */
export function storagePlan(
  statefulSet: StatefulSet,
  claims: readonly PersistentVolumeClaim[],
  { storageSize, given }: Pick<DatabaseConfig, 'storageSize' | 'given'>,
): StoragePlan {
  const template = dataTemplate(statefulSet)
  const size = requestedBy(template)
  if (!given.has('storage_size')) return { grow: [], unbound: [], recreate: false }
  if (template === undefined || size === undefined) {
    return { refused: 'storage_size has no effect: the StatefulSet has no volume claim template for the data.' }
  }
  if (isLess(storageSize, size)) {
    return { refused: `A volume cannot shrink: set storage_size to ${size} or more, not ${storageSize}.` }
  }
  const smaller = dataClaims(statefulSet, claims).filter((claim) => isLess(requestedBy(claim) ?? '0', storageSize))
  const [bound, unbound] = [smaller.filter(isBound), smaller.filter((claim) => !isBound(claim))]
  return {
    grow: bound.map((claim) => ({
      name: claim.metadata?.name ?? '',
      from: requestedBy(claim) ?? '0',
      to: storageSize,
    })),
    unbound: unbound.map((claim) => claim.metadata?.name ?? ''),
    recreate: isLess(size, storageSize),
  }
}

const isBound = (claim: PersistentVolumeClaim): boolean => claim.status?.phase === 'Bound'
