import type { ActionRunner, WorkContext } from '@tenure/runtime'
import type { ResourceRow } from '../../api/rows.ts'
import type { DatabaseNames } from '../../config/names.ts'
import { planDeletion } from './deletion.ts'
import { completedJob, isReported } from './job-changes.ts'
import { isDeletionFinished, type RowTable } from './row-table.ts'
import type { RowWriter } from './row-writer.ts'
import type { DatabaseState } from './state.ts'
import type { DatabaseView } from './view.ts'

export interface DeletionWorkerOptions {
  readonly rows: RowTable
  readonly view: DatabaseView
  readonly runner: ActionRunner
  readonly writer: RowWriter
  /** Queues a row. */
  readonly enqueue: (id: string) => void
}

/** Deletes the database of a row that is deleted, in one job. */
export class DeletionWorker {
  readonly #options: DeletionWorkerOptions

  constructor(options: DeletionWorkerOptions) {
    this.#options = options
  }

  /** `names` are those under which the database runs. */
  async delete(row: ResourceRow, names: DatabaseNames, state: DatabaseState, context: WorkContext): Promise<void> {
    const { runner, view } = this.#options
    // Objects that appear later, such as a Secret that is restored for the next row, are not this row's.
    if (isDeletionFinished(row)) return
    const plan = planDeletion(row, state)
    if (plan.isGone) return await this.finish(row)
    let current: ResourceRow | undefined = row
    if (row.job?.type !== 'delete' && !isReported(row)) current = await this.#begin(row)
    if (!current) return
    await runner.run(row.id, plan.actions, context)
    const after = view.state(names, state.rival)
    // The last object may have gone with this very request; otherwise its event brings the row back.
    if (planDeletion(current, after).isGone) await this.finish(current)
  }

  /** Nothing of the database is left. */
  async finish(row: ResourceRow): Promise<void> {
    if (isDeletionFinished(row)) return
    const { enqueue, rows, writer } = this.#options
    let current: ResourceRow | undefined = row
    if (row.job?.type !== 'delete') current = await this.#begin(row)
    if (!current?.job) return
    const report = { status: 'deleted', observedGeneration: row.generation } as const
    const written = await writer.write(current, report, completedJob(current.job))
    // Another row may have waited for the name.
    if (written) for (const id of rows.namesakes(row)) enqueue(id)
  }

  /** A job that was under way ends with the deletion of its resource. */
  async #begin(row: ResourceRow): Promise<ResourceRow | undefined> {
    const { writer } = this.#options
    let current: ResourceRow | undefined = row
    if (row.job) {
      const error = 'The resource was deleted.'
      current = await writer.write(row, {}, { type: 'fail', job: row.job, log: [error], error })
    }
    return current && (await writer.write(current, {}, { type: 'begin', jobType: 'delete', changes: [], log: [] }))
  }
}
