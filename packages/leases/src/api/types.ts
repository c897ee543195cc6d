import { type LeaseFamily, NEWER_FAMILY, SEED_FAMILY } from './annotations.ts'

/** Settings of a lease controller that do not depend on the kind. */
export interface LeaseSettings {
  /** Families to read. On an object with several, the first one counts. Default: the seed's, then the newer one. */
  readonly families: readonly LeaseFamily[]
  /** Write dates and statuses, but delete nothing and run no cleanup jobs. Default false. */
  readonly dryRun: boolean
  /** Manage only namespaces with this label; without a value, any value matches. Default: all namespaces. */
  readonly optIn: { readonly key: string; readonly value?: string | undefined } | undefined
  /** When to warn ahead of expiry: this fraction of the TTL before it, at most `atMost` milliseconds. */
  readonly expiryWarning: {
    /** Default 0.1. 0: no warnings. */
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

export type { GroupVersionKind } from '@tenure/kube'
