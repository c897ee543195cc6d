import { hostname } from 'node:os'
import type { Clock, KubeApi, Random } from '@tenure/kube'
import { TenureError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'

export interface LeaderElectorOptions {
  /** Not one that is fenced by this elector. */
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** Default: silent. */
  readonly log?: Logger
  /** Default: none. */
  readonly metrics?: Metrics
  /** Where the Lease is. */
  readonly namespace: string
  /** The Lease's name: one per group of candidates. */
  readonly name: string
  /** Who we are, unlike every other candidate. Default: the host's name and a random suffix. */
  readonly identity?: string
  /** How long followers wait after the leader's last renewal, in milliseconds; whole seconds. Default 15,000. */
  readonly leaseDuration?: number
  /** When a leader that could not renew steps down, in milliseconds after its last success began. Default 10,000. */
  readonly renewDeadline?: number
  /** Tries are at most this far apart, in milliseconds; jitter only makes them come sooner. Default 2,000. */
  readonly retryPeriod?: number
  /** When one try is given up, in milliseconds. Default: a third of the renew deadline. */
  readonly requestTimeout?: number
  /** On a clean stop, when the work has ended, hand over at once instead of letting the lease run out. Default true. */
  readonly releaseOnStop?: boolean
}

export interface Timing {
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
  readonly requestTimeout: number
}

/** The timing asked for, or an error that says which two values do not fit. */
export function timingOf(options: LeaderElectorOptions): Timing {
  const leaseDuration = options.leaseDuration ?? 15_000
  const renewDeadline = options.renewDeadline ?? 10_000
  const retryPeriod = options.retryPeriod ?? 2_000
  const requestTimeout = options.requestTimeout ?? renewDeadline / 3
  const problem =
    (!(Number.isInteger(leaseDuration / 1_000) && leaseDuration > 0) &&
      'the lease duration must be whole seconds, at least one, as the Lease stores it so') ||
    (!(retryPeriod > 0) && 'the retry period must be more than nothing') ||
    (!(leaseDuration > renewDeadline) && 'the lease duration must be longer than the renew deadline') ||
    (!(renewDeadline > retryPeriod * 1.2) && 'the renew deadline must be longer than 1.2 times the retry period') ||
    (!(requestTimeout > 0 && requestTimeout < renewDeadline) &&
      'the request time-out must be more than nothing and shorter than the renew deadline') ||
    (!options.name && 'the Lease needs a name') ||
    (!options.namespace && 'the Lease needs a namespace') ||
    (options.identity === '' && 'the identity must not be empty')
  if (problem) {
    throw new TenureError(
      'TENURE_ELECTION_OPTIONS_INVALID',
      `Leader election can not start: ${problem} (lease ${leaseDuration} ms, renew ${renewDeadline} ms, ` +
        `retry ${retryPeriod} ms, request ${requestTimeout} ms).`,
    )
  }
  return { leaseDuration, renewDeadline, retryPeriod, requestTimeout }
}

/** A name that tells a person which process it is, and that no other process has, on the same host either. */
export function defaultIdentity(random: Random): string {
  return `${hostname()}_${Buffer.from(random.bytes(8)).toString('hex')}`
}
