import { hostname } from 'node:os'
import type { Clock, KubeApi, Random } from '@tenure/kube'
import { TenureError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'

export interface LeaderElectorOptions {
  /** Must not be fenced by this elector. */
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** Default: no logs. */
  readonly log?: Logger
  /** Default: no metrics. */
  readonly metrics?: Metrics
  /** Namespace of the Lease. */
  readonly namespace: string
  /** Name of the Lease: one per group of candidates. */
  readonly name: string
  /** Unique identity of this candidate. Default: the host name and a random suffix. */
  readonly identity?: string
  /**
   * Whether the process of that identity is proved to have ended: its Lease is taken at once instead of when it expires.
   * Asked at each attempt. Default: no process is.
   */
  readonly isEnded?: (identity: string) => boolean
  /** Milliseconds that followers wait after the last observed renewal; whole seconds. Default 15,000. */
  readonly leaseDuration?: number
  /** Milliseconds after the start of the last successful renewal at which a leader steps down. Default 10,000. */
  readonly renewDeadline?: number
  /** Maximum milliseconds between attempts; jitter only shortens it. Default 2,000. */
  readonly retryPeriod?: number
  /** Timeout of one attempt in milliseconds. Default: a third of the renew deadline. */
  readonly requestTimeout?: number
  /** On a clean stop, release the lease when the work has ended instead of letting it expire. Default true. */
  readonly releaseOnStop?: boolean
}

export interface Timing {
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
  readonly requestTimeout: number
}

/** The validated timing. Throws an error that names the values that conflict. */
export function timingOf(options: LeaderElectorOptions): Timing {
  const leaseDuration = options.leaseDuration ?? 15_000
  const renewDeadline = options.renewDeadline ?? 10_000
  const retryPeriod = options.retryPeriod ?? 2_000
  const requestTimeout = options.requestTimeout ?? renewDeadline / 3
  const problem =
    (!(Number.isInteger(leaseDuration / 1_000) && leaseDuration > 0) &&
      'the lease duration must be a whole number of seconds and at least one') ||
    (!(retryPeriod > 0) && 'the retry period must be positive') ||
    (!(leaseDuration > renewDeadline) && 'the lease duration must be longer than the renew deadline') ||
    (!(renewDeadline > retryPeriod * 1.2) && 'the renew deadline must be longer than 1.2 times the retry period') ||
    (!(requestTimeout > 0 && requestTimeout < renewDeadline) &&
      'the request timeout must be positive and shorter than the renew deadline') ||
    (!options.name && 'the Lease needs a name') ||
    (!options.namespace && 'the Lease needs a namespace') ||
    (options.identity === '' && 'the identity must not be empty')
  if (problem) {
    throw new TenureError(
      'TENURE_ELECTION_OPTIONS_INVALID',
      `Leader election cannot start: ${problem} (lease ${leaseDuration} ms, renew ${renewDeadline} ms, ` +
        `retry ${retryPeriod} ms, request ${requestTimeout} ms).`,
    )
  }
  return { leaseDuration, renewDeadline, retryPeriod, requestTimeout }
}

/** An identity that names the process for people and is unique, even among processes on the same host. */
export function defaultIdentity(random: Random): string {
  return `${hostname()}_${Buffer.from(random.bytes(8)).toString('hex')}`
}
