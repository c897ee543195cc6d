import { type Clock, sleep, TenureError } from '@tenure/kube'
import type { ResourceRow } from '../api/rows.ts'
import { isConnectionFailure } from '../postgres/errors.ts'
import type { JobRecord, PlatformRows } from '../platform/rows.ts'
import type { DbCliContext } from './context.ts'

/** NOTIFY tells of desired state only, so progress is polled. */
const POLL_INTERVAL_MS = 200
/** A row that no operator has taken up by then gets a hint. */
const HINT_AFTER_MS = 5_000
/** One change has a job or two: one that was under way, and its own. */
const MAX_SHOWN_JOBS = 5

export interface WaitOptions {
  /** The generation that the change made. */
  readonly generation: string
  /** The newest job before the change; undefined: there was none. */
  readonly before: JobRecord | undefined
  readonly timeout: number
}

/** Shows the jobs of a change until the operator has carried it out. Rejects if it fails or takes too long. */
export async function waitForChange(
  { clock, warn }: Pick<DbCliContext, 'clock' | 'warn'>,
  rows: PlatformRows,
  row: ResourceRow,
  options: WaitOptions,
): Promise<ResourceRow> {
  const display = new JobDisplay(warn, options.before)
  const deadline = new Deadline(clock, options.timeout)
  let latest = row
  let isHinted = false
  let isDown = false
  for (;;) {
    try {
      latest = (await rows.byId(row.id)) ?? gone(row)
      const jobs = await rows.jobs(row.id, MAX_SHOWN_JOBS)
      display.show(jobs, latest)
      if (isDown) warn('The database answers again.')
      isDown = false
    } catch (error) {
      if (!isConnectionFailure(error)) throw error
      if (!isDown) warn('The database does not answer; waiting for it.')
      isDown = true
    }
    if (!isDown && isSettled(latest, options.generation)) return latest
    if (!isHinted && !display.hasShown && deadline.elapsed > HINT_AFTER_MS) {
      isHinted = true
      warn('No operator has taken up the change yet. Is npm start, or tenure databases, running on this database?')
    }
    if (deadline.isOver)
      throw new TenureError('TENURE_DATABASE_TIMEOUT', `${state(latest)} The change stays in force.`, { fate: 'retry' })
    await sleep(clock, Math.min(POLL_INTERVAL_MS, deadline.left))
  }
}

/** Whether the operator is done with a generation. Throws if it has failed. */
function isSettled(row: ResourceRow, generation: string): boolean {
  // Jobs belong to managed rows only.
  if (row.lifecycleMode !== 'full') return true
  if (row.job) return false
  if (row.observedGeneration !== undefined && BigInt(row.observedGeneration) >= BigInt(generation)) return true
  const { lastJob } = row
  if (lastJob?.status !== 'failed' || BigInt(lastJob.generation) < BigInt(generation)) return false
  throw new TenureError('TENURE_DATABASE_FAILED', lastJob.error ?? `The job of ${row.name} failed.`)
}

function state({ name, status, connectionInfo }: ResourceRow): string {
  const reason = connectionInfo['error']
  return `Not done in time: ${name} is ${status}${typeof reason === 'string' ? ` (${reason})` : ''}.`
}

function gone({ name }: ResourceRow): never {
  throw new TenureError('TENURE_DATABASE_UNKNOWN', `The row of ${name} was removed meanwhile. See tenure db list.`)
}

class Deadline {
  readonly #clock: Clock
  readonly #start: number
  readonly #timeout: number

  constructor(clock: Clock, timeout: number) {
    this.#clock = clock
    this.#start = clock.monotonic()
    this.#timeout = timeout
  }

  get elapsed(): number {
    return this.#clock.monotonic() - this.#start
  }

  get left(): number {
    return Math.max(this.#timeout - this.elapsed, 0)
  }

  get isOver(): boolean {
    return this.left <= 0
  }
}

/** Prints every new line of the jobs once, and every change of a status. */
class JobDisplay {
  readonly #warn: (line: string) => void
  readonly #firstId: bigint
  readonly #shown = new Map<string, { readonly status: string; readonly logs: string }>()
  #reason: string | undefined

  constructor(warn: (line: string) => void, before: JobRecord | undefined) {
    this.#warn = warn
    // A job that is under way may carry out this change too.
    const isLive = before?.status === 'pending' || before?.status === 'running'
    this.#firstId = before === undefined ? 0n : BigInt(before.id) + (isLive ? 0n : 1n)
    if (before && isLive) this.#shown.set(before.id, before)
  }

  /** Something showed that an operator works on the row. */
  get hasShown(): boolean {
    return this.#shown.size > 0 || this.#reason !== undefined
  }

  show(jobs: readonly JobRecord[], row: ResourceRow): void {
    for (const job of jobs.toReversed()) if (BigInt(job.id) >= this.#firstId) this.#showJob(job)
    const error = row.connectionInfo['error']
    const reason = typeof error === 'string' ? error : undefined
    if (reason !== undefined && reason !== this.#reason && !isOver(row)) this.#warn(`  waiting: ${printable(reason)}`)
    this.#reason = reason
  }

  #showJob(job: JobRecord): void {
    const before = this.#shown.get(job.id)
    this.#shown.set(job.id, job)
    if (before?.status !== job.status && !isFinished(job)) this.#warn(`${job.type} job ${job.id} ${job.status}`)
    // A long log loses its beginning.
    const fresh = job.logs.startsWith(before?.logs ?? '') ? job.logs.slice(before?.logs.length ?? 0) : job.logs
    for (const line of fresh.split('\n')) if (line !== '') this.#warn(`  ${printable(line)}`)
    if (before?.status !== job.status && isFinished(job)) this.#warn(`${job.type} job ${job.id} ${job.status}`)
  }
}

/** A reason is the job's own message then. */
const isOver = ({ job, lastJob, generation }: ResourceRow): boolean =>
  !job && lastJob?.status === 'failed' && lastJob.generation === generation

const isFinished = ({ status }: JobRecord): boolean => status !== 'pending' && status !== 'running'

/** Control characters of a server's words must not reach the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ')
