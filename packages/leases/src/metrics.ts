import type { Counter, Gauge, Histogram, Metrics } from '@tenure/runtime'
import type { GroupVersionKind } from './api/types.ts'

/** Metrics of one kind's leases. Each fact is counted once, however many attempts it takes. */
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
  /** Removes the gauges: a kind that is no longer managed is not reported. */
  close(): void
}

const PREFIX = 'object_lease_controller'
const LABELS = ['group', 'version', 'kind'] as const

/** Seconds. The target is at most one second. */
const LATENESS_BUCKETS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 5, 10, 30, 60, 300, 3_600]
/** Seconds. */
const JOB_DURATION_BUCKETS = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600]

/** `activeLeases` is read on every scrape. */
export function leaseMetrics(metrics: Metrics, gvk: GroupVersionKind, activeLeases: () => number): LeaseMetrics {
  const labels = { group: gvk.group, version: gvk.version, kind: gvk.kind }
  const counter = (name: string, help: string): Counter =>
    metrics.counter({ name: `${PREFIX}_${name}`, help, labels: LABELS }).with(labels)
  const histogram = (name: string, help: string, buckets?: readonly number[]): Histogram =>
    metrics.histogram({ name: `${PREFIX}_${name}`, help, labels: LABELS, ...(buckets && { buckets }) }).with(labels)
  const info = metrics.gauge({ name: `${PREFIX}_info`, help: 'A kind whose leases are managed.', labels: LABELS })
  const actives = metrics.gauge({
    name: `${PREFIX}_active_leases`,
    help: 'Number of leases with an expiry date.',
    labels: LABELS,
  })
  info.with(labels).set(1)
  const active = actives.with(labels)
  const endCollecting = metrics.onCollect(() => active.set(activeLeases()))
  return {
    started: counter('leases_started_total', 'Number of leases started.'),
    expired: counter('leases_expired_total', 'Number of expired leases whose objects were deleted.'),
    invalidTtl: counter('invalid_ttl_total', 'Number of invalid TTLs found.'),
    errors: counter(
      'reconcile_errors_total',
      'Number of objects whose reconciliation failed, counted once until it succeeds.',
    ),
    jobsCreated: counter('cleanup_jobs_created_total', 'Number of cleanup jobs created.'),
    jobsFailed: counter('cleanup_jobs_failed_total', 'Number of awaited cleanup jobs that failed or timed out.'),
    jobsCompleted: counter('cleanup_jobs_completed_total', 'Number of awaited cleanup jobs that succeeded.'),
    duration: histogram('reconcile_duration_seconds', 'Time of one reconciliation of one object.'),
    jobDuration: histogram('cleanup_job_duration_seconds', 'Run time of cleanup jobs.', JOB_DURATION_BUCKETS),
    lateness: histogram(
      'expiry_lateness_seconds',
      'Time from the expiry of a lease to the deletion.',
      LATENESS_BUCKETS,
    ),
    active,
    close() {
      endCollecting()
      info.remove(labels)
      actives.remove(labels)
    },
  }
}
