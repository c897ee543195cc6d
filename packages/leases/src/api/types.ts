import { type LeaseFamily, NEWER_FAMILY, SEED_FAMILY } from './annotations.ts'

/**
 * Limits of cleanup jobs. A job runs with rights that the user who annotates an object may not have: without limits,
 * a right to edit ConfigMaps would be a right to every ServiceAccount and Secret of the namespace.
 */
export interface CleanupSettings {
  /** Image of jobs that name none; always allowed. It must have `sh`. Default `tenure-cleanup:latest`. */
  readonly image: string
  /**
   * `any`: jobs get what their objects ask for. `listed`: only the default image, the ServiceAccount `default`, what the
   * lists allow, and ServiceAccounts and Secrets with the annotation `allow-cleanup-jobs`. Default `listed`.
   */
  readonly policy: 'any' | 'listed'
  /** Patterns in which `*` stands for any text. Default: none. */
  readonly images: readonly string[]
  /** Patterns of names. Default: none. */
  readonly serviceAccounts: readonly string[]
  /** Patterns of names. Default: none. */
  readonly secrets: readonly string[]
}

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
  readonly cleanup: CleanupSettings
}

export const defaultLeaseSettings: LeaseSettings = {
  families: [SEED_FAMILY, NEWER_FAMILY],
  dryRun: false,
  optIn: undefined,
  expiryWarning: { fraction: 0.1, atMost: 3_600_000 },
  cleanup: { image: 'tenure-cleanup:latest', policy: 'listed', images: [], serviceAccounts: [], secrets: [] },
}

export type { GroupVersionKind } from '@tenure/kube'
