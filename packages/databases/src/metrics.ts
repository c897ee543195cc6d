import {
  collectorComponent,
  type ComponentDefinition,
  type Counter,
  type Family,
  type Gauge,
  type Histogram,
  type Metrics,
} from '@tenure/runtime'
import type { JobChange, JobType, ResourceRow } from './api/rows.ts'
import type { Database } from './postgres/database.ts'
import { countResources } from './postgres/resource-counts.ts'

/** Where the gauges get their values from. */
export interface DatabaseMetricSources {
  rows(): Iterable<ResourceRow>
  /** Rows whose last try failed and that are tried again. */
  retrying(): number
  isListening(): boolean
  readonly database: Pick<Database, 'isUp' | 'reconnects'>
}

const FINISHED: Readonly<Partial<Record<JobChange['type'], string>>> = {
  begin: 'running',
  complete: 'completed',
  fail: 'failed',
  reject: 'failed',
}

/** The operator's own metrics. Their names are the original's. */
export class DatabaseMetrics {
  readonly #metrics: Metrics
  readonly #duration: Histogram
  readonly #reconciles: Family<Counter>
  readonly #jobs: Family<Counter>

  constructor(metrics: Metrics) {
    this.#metrics = metrics
    this.#reconciles = metrics.counter({
      name: 'nest_reconcile_total',
      help: 'Number of times a resource was worked on.',
      labels: ['result'],
    })
    this.#jobs = metrics.counter({
      name: 'nest_provisioning_jobs_total',
      help: 'Number of jobs that reached a status.',
      labels: ['type', 'status'],
    })
    this.#duration = metrics
      .histogram({ name: 'nest_reconcile_duration_seconds', help: 'Duration of the work on one resource.' })
      .with({})
  }

  reconciled(isSuccess: boolean, seconds: number): void {
    this.#reconciles.with({ result: isSuccess ? 'success' : 'error' }).inc()
    this.#duration.observe(seconds)
  }

  job(change: JobChange): void {
    const status = FINISHED[change.type]
    if (status === undefined) return
    this.#jobs.with({ type: jobTypeOf(change), status }).inc()
  }

  /** Sets the gauges before each scrape. */
  collector({ database, isListening, retrying, rows }: DatabaseMetricSources): ComponentDefinition {
    const gauge = (name: string, help: string): Gauge => this.#metrics.gauge({ name, help }).with({})
    const up = gauge('nest_db_up', '1 if the PostgreSQL server answers.')
    const listening = gauge('nest_db_listen_up', '1 if notifications of the PostgreSQL server arrive.')
    const depth = gauge('nest_retry_queue_depth', 'Number of resources whose last try failed.')
    const reconnects = gauge('nest_db_reconnects_total', 'Number of times the PostgreSQL server answered again.')
    const resources = this.#metrics.gauge({
      name: 'nest_resources_total',
      help: 'Number of resources.',
      labels: ['type', 'status', 'team', 'lifecycle_mode'],
    })
    let shown: readonly Readonly<Record<string, string>>[] = []
    return collectorComponent('databases', this.#metrics, () => {
      up.set(Number(database.isUp))
      listening.set(Number(isListening()))
      depth.set(retrying())
      reconnects.set(database.reconnects)
      for (const labels of shown) resources.remove(labels)
      shown = countResources(rows()).map(({ count, lifecycleMode, status, team, type }) => {
        const labels = { type, status, team, lifecycle_mode: lifecycleMode }
        resources.with(labels).set(count)
        return labels
      })
    })
  }
}

function jobTypeOf(change: JobChange): JobType {
  return 'job' in change ? change.job.type : change.jobType
}
