import { asError, type Clock, fateOf, isConflict, type Random } from '@tenure/kube'
import { type Action, type ActionRunner, type Logger, type Requeue, type WorkContext } from '@tenure/runtime'
import type { JobChange, LiveJob, ResourceReport, ResourceRow } from '../../api/rows.ts'
import { databaseNames, type DatabaseNames } from '../../config/names.ts'
import { engineOf } from '../../engines/table.ts'
import { planDeletion } from './deletion.ts'
import { DeletionWorker } from './deletion-worker.ts'
import { changeLine, changesOf, completedJob, isReported } from './job-changes.ts'
import { mergedChanges, onlyReplicas } from './field-changes.ts'
import { type ConvergePlan, planDatabase } from './plan.ts'
import { errorReport, reportOf } from './status.ts'
import { countsAsTry, retryDelay, type RetrySettings } from './retries.ts'
import { type DatabaseRollout, rolloutOf } from './rollout.ts'
import { isManaged, type RowTable } from './row-table.ts'
import type { RowWriter } from './row-writer.ts'
import { displacedNames } from './placement.ts'
import type { DatabaseState } from './state.ts'
import type { DatabaseView } from './view.ts'
import { RESOURCE_ID_LABEL } from '../../api/names.ts'

/** Milliseconds. */
const CONFLICT_RETRY_MS = 50

export interface DatabaseWorkerOptions {
  readonly writer: RowWriter
  readonly rows: RowTable
  readonly view: DatabaseView
  readonly runner: ActionRunner
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly retry: RetrySettings
  /** Queues a row. */
  readonly enqueue: (id: string) => void
}

/**
 * Brings one row and its database together: plan, job, actions, report. Every step is found again after a crash, because
 * the row, its live job and the cluster say how far it is.
 */
export class DatabaseWorker {
  readonly #options: DatabaseWorkerOptions
  readonly #writer: RowWriter
  readonly #deletion: DeletionWorker
  /** When the pods of a row that fail are looked at again, on the monotonic clock. */
  readonly #checks = new Map<string, number>()

  constructor(options: DatabaseWorkerOptions) {
    this.#options = options
    this.#writer = options.writer
    this.#deletion = new DeletionWorker(options)
  }

  forget(id: string): void {
    this.#checks.delete(id)
  }

  async work(id: string, context: WorkContext): Promise<Requeue | void> {
    const row = this.#options.rows.get(id)
    if (!row) return this.forget(id)
    try {
      return await this.#reconcile(row, context)
    } catch (error) {
      // Another writer was faster. The cache shows its write already, so there is nothing to wait for.
      if (isConflict(error)) return { requeueAfter: CONFLICT_RETRY_MS }
      if (!context.signal.aborted) await this.#failed(id, asError(error))
      throw error
    }
  }

  async #reconcile(row: ResourceRow, context: WorkContext): Promise<Requeue | void> {
    const { rows } = this.#options
    const names = rows.names(row)
    if (!isManaged(row)) return await this.#observe(row, names)
    const displaced = this.#displaced(row, names)
    if (row.deletedAt !== undefined && displaced) {
      return await this.#deletion.delete(row, displaced, this.#state(row, displaced), context)
    }
    if ('refused' in names) return await this.#refuseNames(row, names.refused)
    const state = { ...this.#state(row, names), displaced }
    if (row.deletedAt !== undefined) return await this.#deletion.delete(row, names, state, context)
    // The name is free soon: the end of that deletion brings this row back.
    const isFreeSoon = state.rival !== undefined && rows.get(state.rival)?.deletedAt !== undefined
    if (isFreeSoon && !displaced) return undefined
    const plan = planDatabase({ row, names, state, random: this.#options.random })
    if (plan.type === 'refuse') return await this.#writer.refuse(row, plan.jobType, plan.reason)
    return await this.#converge(row, names, plan, context)
  }

  /** The cluster under these names, and the row that has them before this one does. */
  #state(row: ResourceRow, names: DatabaseNames): DatabaseState {
    const { rows, view } = this.#options
    const state = view.state(names, undefined)
    const { secret, statefulSet } = state
    const owner = [statefulSet, secret].find((object) => object !== undefined)?.metadata.labels?.[RESOURCE_ID_LABEL]
    return { ...state, rival: rows.rival(row, names, owner) }
  }

  /** The names under which the row's database runs, if the row has others now. Events of those concern the row, too. */
  #displaced(row: ResourceRow, names: DatabaseNames | { readonly refused: string }): DatabaseNames | undefined {
    const { rows, view } = this.#options
    const found = view.namesOf(row.id).filter(({ namespace }) => rows.isWatched(namespace))
    const displaced = displacedNames(row, 'refused' in names ? undefined : names, found)
    // A deleted row keeps the name until its deletion is finished: another row may wait for it.
    if (displaced || row.deletedAt === undefined) rows.setDisplaced(row.id, displaced)
    return displaced
  }

  async #converge(
    row: ResourceRow,
    names: DatabaseNames,
    plan: ConvergePlan,
    context: WorkContext,
  ): Promise<Requeue | void> {
    const { runner, view } = this.#options
    const pending = runner.pending(row.id, plan.actions, context)
    let current: ResourceRow | undefined = row
    if (pending.length > 0) current = await this.#openJob(row, plan, pending)
    if (!current) return undefined
    if (pending.length > 0) await runner.run(row.id, plan.actions, context)
    const state = view.state(names, undefined)
    const rollout = rolloutOf(state.statefulSet, state.pods, this.#options.clock.now())
    const { config, secretName, serviceName } = plan
    const report = reportOf({ row: current, names, engine: config.engine, state, rollout, secretName, serviceName })
    if (rollout.state === 'failing') {
      // A change that needs no action has a job, too: its outcome is that the pods fail.
      const isUnseen = pending.length === 0 && current.observedGeneration !== current.generation
      if (isUnseen) current = await this.#openJob(current, plan, [])
      return current && (await this.#failing(current, rollout, report))
    }
    this.#checks.delete(row.id)
    // Actions that only the next state of the cluster allows are still to come.
    const rest = planDatabase({ row: current, names, state, random: this.#options.random })
    const isDone =
      rollout.state === 'ready' &&
      rest.type === 'converge' &&
      runner.pending(row.id, rest.actions, context).length === 0
    if (!isDone) {
      await this.#writer.write(current, report)
      const after = rollout.state === 'progressing' ? rollout.recheckAfter : undefined
      return after === undefined ? undefined : { requeueAfter: after }
    }
    // The job of this change had failed, and a later try has succeeded: that is a job of its own.
    if (!current.job && isReported(current)) current = await this.#begin(current, plan, [])
    if (!current) return undefined
    const done = { ...report, observedGeneration: current.generation }
    await this.#writer.write(current, done, current.job && completedJob(current.job))
    return undefined
  }

  /** Before the first action: a change has a job, new or the one that the platform queued, or joins the one that runs. */
  async #openJob(row: ResourceRow, plan: ConvergePlan, pending: readonly Action[]): Promise<ResourceRow | undefined> {
    const { job } = row
    if (job?.type === 'delete') {
      const error = 'The resource is not deleted any more.'
      const current = await this.#writer.write(row, {}, { type: 'fail', job, log: [error], error })
      return current && (await this.#begin(current, plan, pending))
    }
    if (job?.status === 'running')
      return job.generation === row.generation ? row : await this.#extend(row, job, plan, pending)
    return job || !isReported(row) ? await this.#begin(row, plan, pending) : row
  }

  /** Opens the job and shows that something happens, in one transaction. */
  async #begin(row: ResourceRow, plan: ConvergePlan, pending: readonly Action[]): Promise<ResourceRow | undefined> {
    const changes = changesOf(plan, pending)
    const log = [...changes.map(changeLine), ...plan.notes]
    const { jobType } = plan
    const status = jobType === 'create' ? 'provisioning' : 'updating'
    return await this.#writer.write(row, row.status === 'paused' ? {} : { status }, {
      type: 'begin',
      jobType,
      changes,
      log,
    })
  }

  async #extend(
    row: ResourceRow,
    job: LiveJob,
    plan: ConvergePlan,
    pending: readonly Action[],
  ): Promise<ResourceRow | undefined> {
    const later = changesOf(plan, pending)
    const changes = mergedChanges(job.changes, later)
    const jobType = job.type === 'scale' && !onlyReplicas(changes) ? 'update' : job.type
    const log = [...later.map(changeLine), ...plan.notes]
    return await this.#writer.write(row, {}, { type: 'extend', job, jobType, changes, log })
  }

  /** Pods fail: the row says why, and the job fails once it was looked at often enough. */
  async #failing(
    row: ResourceRow,
    rollout: Extract<DatabaseRollout, { state: 'failing' }>,
    report: ResourceReport,
  ): Promise<Requeue | void> {
    const { clock, retry } = this.#options
    const { job } = row
    if (!job) {
      await this.#writer.write(row, report)
      return undefined
    }
    const now = clock.monotonic()
    const due = this.#checks.get(row.id)
    const attempts = job.attempts + (due !== undefined && now >= due ? 1 : 0)
    if (due === undefined || now >= due) this.#checks.set(row.id, now + retryDelay(retry, attempts))
    const wait = Math.max((this.#checks.get(row.id) ?? now) - now, 1)
    if (attempts > retry.maxRetries) {
      this.#checks.delete(row.id)
      await this.#writer.write(row, report, { type: 'fail', job, log: [rollout.reason], error: rollout.reason })
      return undefined
    }
    const isCounted = attempts !== job.attempts
    await this.#writer.write(
      row,
      report,
      isCounted ? { type: 'progress', job, log: [rollout.reason], attempts } : undefined,
    )
    return { requeueAfter: wait }
  }

  /** A deleted row is finished unless it has a database that the operator may not touch. */
  async #refuseNames(row: ResourceRow, reason: string): Promise<void> {
    if (row.deletedAt === undefined) return await this.#writer.refuse(row, 'create', reason)
    const names = databaseNames(row, '')
    const isGone = 'refused' in names || planDeletion(row, this.#options.view.state(names, undefined)).isGone
    return isGone ? await this.#deletion.finish(row) : await this.#writer.refuse(row, 'delete', reason)
  }

  /** Status and connection of a database that another program manages. */
  async #observe(row: ResourceRow, names: DatabaseNames | { readonly refused: string }): Promise<void> {
    const { job } = row
    if (job?.status === 'running') {
      const error = `The resource is ${row.lifecycleMode} now, and not managed any more.`
      await this.#writer.write(row, {}, { type: 'fail', job, log: [error], error })
      return
    }
    if ('refused' in names) return
    const engine = engineOf(row.type)
    const state = this.#options.view.state(names, undefined)
    const { pods, statefulSet } = state
    if (!statefulSet || !engine || row.deletedAt !== undefined) return
    const rollout = rolloutOf(statefulSet, pods, this.#options.clock.now())
    const secretName = state.secret?.metadata.name
    const serviceName = statefulSet.spec?.serviceName
    const report = reportOf({ row, names, engine: engine.name, state, rollout, secretName, serviceName })
    // These rows keep the names that their owner gave them.
    const { status, connectionInfo } = report
    await this.#writer.write(row, {
      ...(status !== undefined && { status }),
      ...(connectionInfo && { connectionInfo }),
    })
  }

  /** A try failed: it is counted in the job, which fails after the last one. The reason is in the row at once. */
  async #failed(id: string, error: Error): Promise<void> {
    const { retry, rows } = this.#options
    const row = rows.get(id)
    if (!row?.job || !countsAsTry(error)) return
    const { job } = row
    const attempts = job.attempts + 1
    const report = errorReport(row, error.message)
    const change: JobChange =
      attempts > retry.maxRetries || fateOf(error) === 'terminal'
        ? { type: 'fail', job, log: [error.message], error: error.message }
        : { type: 'progress', job, log: [`try ${attempts} failed: ${error.message}`], attempts }
    try {
      await this.#writer.write(row, report, change)
    } catch (second) {
      this.#options.log.debug('a failed try could not be recorded', { id, error: asError(second) })
    }
  }
}
