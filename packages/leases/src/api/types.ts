import { type LeaseFamily, NEWER_FAMILY, SEED_FAMILY } from './annotations.ts'

/** How leases are kept, whatever the kind. */
export interface LeaseSettings {
  /** The families that are read; of an object with several, the first counts. Default: the seed's, then the newer. */
  readonly families: readonly LeaseFamily[]
  /** Dates and statuses are kept, nothing is deleted and no cleanup job is run. Default false. */
  readonly dryRun: boolean
  /** Only namespaces with this label are managed; without a value, any will do. Default: all namespaces. */
  readonly optIn: { readonly key: string; readonly value?: string | undefined } | undefined
  /** How long before its end a lease is announced to end: this fraction of its TTL, and at most so many milliseconds. */
  readonly expiryWarning: {
    /** Default 0.1. 0: no announcements. */
    readonly fraction: number
    /** Default 3,600,000: an hour. */
    readonly atMost: number
  }
}

export const defaultLeaseSettings: LeaseSettings = {
  families: [SEED_FAMILY, NEWER_FAMILY],
  dryRun: false,
  optIn: undefined,
  expiryWarning: { fraction: 0.1, atMost: 3_600_000 },
}

/** Names a kind without saying how it is called in URLs. */
export interface GroupVersionKind {
  /** Empty: the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
}
