import type { JobChange, JobType, ResourceReport, ResourceRow } from '../../api/rows.ts'
import type { DatabaseMetrics } from '../../metrics.ts'
import type { ResourceStore } from '../../postgres/resource-store.ts'
import type { RowTable } from './row-table.ts'
import { errorReport } from './status.ts'

export interface RowWriterOptions {
  readonly store: ResourceStore
  readonly rows: RowTable
  readonly metrics: DatabaseMetrics
  /** Queues a row. */
  readonly enqueue: (id: string) => void
}

/** Writes rows and their jobs, and keeps the table of rows as they are then. */
export class RowWriter {
  readonly #options: RowWriterOptions

  constructor(options: RowWriterOptions) {
    this.#options = options
  }

  /** Reads a row again that may be older than this process's last write of it. */
  async reread(id: string): Promise<void> {
    const { rows, store } = this.#options
    const row = await store.readOne(id)
    if (row) rows.set(row)
    else rows.delete(id)
  }

  /** Undefined: the platform has changed the row meanwhile; it was read again and is queued. */
  async write(row: ResourceRow, report: ResourceReport, job?: JobChange): Promise<ResourceRow | undefined> {
    const { enqueue, metrics, rows, store } = this.#options
    const result = await store.report(row, report, job)
    if (result !== 'stale') {
      rows.set(result.row)
      if (job) metrics.job(job)
      return result.row
    }
    await this.reread(row.id)
    enqueue(row.id)
    return undefined
  }

  /** A row that cannot be carried out: one failed job for each generation and reason. */
  async refuse(row: ResourceRow, jobType: JobType, reason: string): Promise<void> {
    const isKnown = row.lastJob?.generation === row.generation && row.lastJob.error === reason && !row.job
    await this.write(row, errorReport(row, reason), isKnown ? undefined : { type: 'reject', jobType, error: reason })
  }
}
