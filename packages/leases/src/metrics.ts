import type { Counter, Gauge, Histogram, Metrics } from '@tenure/runtime'
import type { GroupVersionKind } from './api/types.ts'

/** The numbers of one kind's leases. Each counts facts, not tries. */
export interface LeaseMetrics {
  readonly started: Counter
  readonly expired: Counter
  readonly invalidTtl: Counter
  readonly errors: Counter
  readonly jobsCreated: Counter
  readonly jobsFailed: Counter
  readonly jobsCompleted: Counter
  readonly duration: Histogram
  readonly jobDuration: Histogram
  readonly lateness: Histogram
  readonly active: Gauge
  /** Gauges of a kind that is not kept any more are not reported. */
  close(): void
}

const PREFIX = 'object_lease_controller'
const LABELS = ['group', 'version', 'kind'] as const

/** A deletion is in time within a second; the buckets tell how far from it. */
const LATENESS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 5, 10, 30, 60, 300, 3_600]
const JOB_DURATION = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600]

/** `activeLeases` is asked whenever the numbers are collected. */
export function leaseMetrics(metrics: Metrics, gvk: GroupVersionKind, activeLeases: () => number): LeaseMetrics {
  const labels = { group: gvk.group, version: gvk.version, kind: gvk.kind }
  const counter = (name: string, help: string): Counter =>
    metrics.counter({ name: `${PREFIX}_${name}`, help, labels: LABELS }).with(labels)
  const histogram = (name: string, help: string, buckets?: readonly number[]): Histogram =>
    metrics.histogram({ name: `${PREFIX}_${name}`, help, labels: LABELS, ...(buckets && { buckets }) }).with(labels)
  const info = metrics.gauge({ name: `${PREFIX}_info`, help: 'A kind whose leases are kept.', labels: LABELS })
  const actives = metrics.gauge({ name: `${PREFIX}_active_leases`, help: 'Leases with a date.', labels: LABELS })
  info.with(labels).set(1)
  const active = actives.with(labels)
  const endCollecting = metrics.onCollect(() => active.set(activeLeases()))
  return {
    started: counter('leases_started_total', 'Leases that began.'),
    expired: counter('leases_expired_total', 'Leases that ended: their objects were deleted.'),
    invalidTtl: counter('invalid_ttl_total', 'TTLs that were found to be invalid.'),
    errors: counter('reconcile_errors_total', 'Objects whose lease could not be kept, until it could again.'),
    jobsCreated: counter('cleanup_jobs_created_total', 'Cleanup jobs that were made.'),
    jobsFailed: counter('cleanup_jobs_failed_total', 'Cleanup jobs that were waited for and failed or took too long.'),
    jobsCompleted: counter('cleanup_jobs_completed_total', 'Cleanup jobs that were waited for and succeeded.'),
    duration: histogram('reconcile_duration_seconds', 'Time that one step for one object took.'),
    jobDuration: histogram('cleanup_job_duration_seconds', 'Time that cleanup jobs took.', JOB_DURATION),
    lateness: histogram('expiry_lateness_seconds', 'Time from the end of a lease to the deletion.', LATENESS),
    active,
    close() {
      endCollecting()
      info.remove(labels)
      actives.remove(labels)
    },
  }
}
