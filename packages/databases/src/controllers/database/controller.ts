import { type Timer, unlessAborted } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import {
  ActionRunner,
  type Component,
  type ComponentDefinition,
  type OperatorContext,
  PRIORITY,
  QueueWorker,
  type Requeue,
  type WorkContext,
} from '@tenure/runtime'
import type { ResourceRow } from '../../api/rows.ts'
import type { DatabasesSettings } from '../../config.ts'
import type { DatabaseMetrics } from '../../metrics.ts'
import { ChangeFeed } from '../../postgres/change-feed.ts'
import type { Database } from '../../postgres/database.ts'
import { ResourceStore } from '../../postgres/resource-store.ts'
import { DatabaseWorker } from './database-worker.ts'
import { RowTable } from './row-table.ts'
import { RowWriter } from './row-writer.ts'
import type { DatabaseView } from './view.ts'

/** The state of the leader, for metrics and views: another replica has none. */
export interface DatabaseLeader {
  readonly rows: Iterable<ResourceRow>
  row(id: string): ResourceRow | undefined
  /** Rows whose last try failed. */
  readonly retrying: number
  /** Whether notifications of the database arrive. */
  readonly isListening: boolean
}

export type DatabaseControllerSettings = Pick<
  DatabasesSettings,
  | 'namespacePrefix'
  | 'watchAllNamespaces'
  | 'reconcileInterval'
  | 'workerCount'
  | 'maxRetries'
  | 'backoffBase'
  | 'backoffMax'
>

export interface DatabaseControllerOptions {
  readonly database: Database
  readonly settings: DatabaseControllerSettings
  readonly metrics: DatabaseMetrics
  /** Called with this replica when it begins to lead, and with undefined when it ends. */
  readonly onLeading: (leader: DatabaseLeader | undefined) => void
  /** Called with the id of each row that changed or is gone. Default: nothing is called. */
  readonly onRowChange?: (id: string) => void
}

/** Keeps databases as the rows describe them, on the leader. A row is not a Kubernetes object, so it runs in a QueueWorker. */
export function databaseController(view: DatabaseView, options: DatabaseControllerOptions): ComponentDefinition {
  return { stage: 'lead', create: (leader) => new DatabaseController(leader, view, options) }
}

class DatabaseController implements Component, DatabaseLeader {
  readonly name = 'databases'
  readonly #context: OperatorContext
  readonly #view: DatabaseView
  readonly #options: DatabaseControllerOptions
  readonly #rows: RowTable
  readonly #runner: ActionRunner
  readonly #writer: RowWriter
  readonly #worker: DatabaseWorker
  readonly #queue: QueueWorker
  readonly #feed: ChangeFeed
  /** Rows whose last try failed. */
  readonly #failing = new Set<string>()
  /** Rows that differ from what was read before, in an unknown order: they are read again before they are worked on. */
  readonly #outdated = new Set<string>()
  /** Resolves with the first read of all rows. */
  readonly #read = Promise.withResolvers<void>()
  #interval: Timer | undefined
  #endEvents: (() => void) | undefined

  constructor(context: OperatorContext, view: DatabaseView, options: DatabaseControllerOptions) {
    const { api, clock, identity, log, random } = context
    const { database, metrics, settings } = options
    this.#context = context
    this.#view = view
    this.#options = options
    this.#rows = new RowTable(settings, options.onRowChange)
    this.#runner = new ActionRunner({
      name: 'database',
      api,
      clock,
      fieldManager: identity.name,
      informers: view.informers,
      onStep: context.onStep,
    })
    const store = new ResourceStore(database, log)
    const retry = { maxRetries: settings.maxRetries, base: settings.backoffBase, max: settings.backoffMax }
    const enqueue = (id: string): void => this.#queue.add(id)
    this.#writer = new RowWriter({ store, metrics, rows: this.#rows, enqueue })
    this.#worker = new DatabaseWorker({
      view,
      clock,
      random,
      log,
      retry,
      rows: this.#rows,
      runner: this.#runner,
      writer: this.#writer,
      enqueue,
    })
    this.#queue = new QueueWorker({
      name: 'database',
      clock,
      log,
      metrics: context.metrics,
      concurrency: settings.workerCount,
      backoff: { base: settings.backoffBase, max: settings.backoffMax },
      work: async (id, work) => {
        const began = clock.monotonic()
        let isSuccess = false
        try {
          const again = await this.#work(id, work)
          isSuccess = true
          return again
        } finally {
          metrics.reconciled(isSuccess, (clock.monotonic() - began) / 1_000)
          if (isSuccess) this.#failing.delete(id)
          else this.#failing.add(id)
        }
      },
    })
    this.#feed = new ChangeFeed({
      database,
      store,
      clock,
      random,
      log,
      onSnapshot: (rows) => this.#onSnapshot(rows),
      onChange: (rows) => this.#onRows(rows),
    })
  }

  get rows(): Iterable<ResourceRow> {
    return this.#rows.values()
  }

  row(id: string): ResourceRow | undefined {
    return this.#rows.get(id)
  }

  get retrying(): number {
    return this.#failing.size
  }

  get isListening(): boolean {
    return this.#feed.isListening
  }

  /** Resolves once the rows were read: without them nothing is known. */
  async start(signal: AbortSignal): Promise<void> {
    this.#options.onLeading(this)
    this.#runner.start()
    await this.#queue.start()
    this.#endEvents = this.#view.subscribe((namespace, name) => this.#onClusterEvent(namespace, name))
    this.#feed.start()
    this.#scheduleFullRead()
    await unlessAborted(this.#read.promise, signal)
  }

  async stop(grace: number): Promise<void> {
    this.#endEvents?.()
    this.#interval?.cancel()
    await this.#feed.stop()
    await this.#queue.stop(grace)
    this.#runner.stop()
    this.#options.onLeading(undefined)
  }

  async #work(id: string, context: WorkContext): Promise<Requeue | void> {
    if (this.#outdated.delete(id)) {
      try {
        await this.#writer.reread(id)
      } catch (error) {
        this.#outdated.add(id)
        throw error
      }
    }
    return await this.#worker.work(id, context)
  }

  #scheduleFullRead(): void {
    this.#interval = this.#context.clock.setTimer(this.#options.settings.reconcileInterval, () => {
      this.#feed.requestFullRead()
      this.#scheduleFullRead()
    })
  }

  /** Rows that are missing are deleted for good; their databases, if any are left, are not touched. */
  #onSnapshot(rows: readonly ResourceRow[]): void {
    const ids = new Set(rows.map(({ id }) => id))
    const gone = [...this.#rows.values()].filter(({ id }) => !ids.has(id))
    for (const row of gone) {
      this.#enqueueNamesakes(row)
      this.#rows.delete(row.id)
      this.#worker.forget(row.id)
      this.#failing.delete(row.id)
    }
    this.#onRows(rows)
    this.#read.resolve()
  }

  #onRows(rows: readonly ResourceRow[]): void {
    for (const row of rows) {
      const known = this.#rows.get(row.id)
      if (known && isDeepEqual(known, row)) continue
      // This process may have written the row since it was read, unless the platform has changed it.
      if (known && BigInt(row.generation) <= BigInt(known.generation)) this.#outdated.add(row.id)
      else this.#rows.set(row)
      // A change may be the repair: it is tried at once.
      if (known) this.#queue.forget(row.id)
      this.#queue.add(row.id, { priority: known ? PRIORITY.normal : PRIORITY.low })
      if (known) this.#enqueueNamesakes(known)
    }
  }

  /** Other rows of the same name may have it now. */
  #enqueueNamesakes(row: ResourceRow): void {
    for (const id of this.#rows.namesakes(row)) this.#queue.add(id)
  }

  #onClusterEvent(namespace: string, name: string | undefined): void {
    const ids = name === undefined ? this.#rows.idsIn(namespace) : this.#rows.idsOf(namespace, name)
    for (const id of ids) this.#queue.add(id)
  }
}
