import { abortReason, ApiError, asError, type Clock, fateOf, isConflict, isNotFound } from '@tenure/kube'
import { describeAction, isNamespaceEnding } from '../actions/index.ts'
import type { WorkQueue } from '../queue/index.ts'
import type { ControllerInstruments, ReconcileResult } from './controller-metrics.ts'
import type { ReconcileOutcome } from './definition.ts'
import { type Attempt, timeoutError, type TurnSurroundings } from './reconcile.ts'

/** Conflicts in a row on one object that are part of the day's work; more of them, and somebody should know. */
const USUAL_CONFLICTS = 5

/** Decides what becomes of a key after its turn: forgotten, looked at later, or tried again. */
export class Verdict {
  readonly #around: TurnSurroundings
  readonly #queue: WorkQueue
  readonly #instruments: ControllerInstruments
  readonly #clock: Clock
  readonly #tell: ((outcome: ReconcileOutcome) => void) | undefined

  constructor(
    around: TurnSurroundings,
    queue: WorkQueue,
    instruments: ControllerInstruments,
    tell?: (outcome: ReconcileOutcome) => void,
  ) {
    this.#around = around
    this.#queue = queue
    this.#instruments = instruments
    this.#clock = around.clock
    this.#tell = tell
  }

  succeeded(attempt: Attempt): void {
    const { key, requeueAt } = attempt
    if (requeueAt === undefined) {
      this.#queue.forget(key)
      this.#count(attempt, 'success')
      return
    }
    const delay = requeueAt - this.#clock.now()
    if (delay > 0) {
      this.#queue.forget(key)
      this.#queue.add(key, 0, delay)
      this.#count(attempt, 'requeue_after')
    } else {
      // A plan that asks for a time that has passed would run in circles.
      this.#queue.retry(key, this.#queue.priority(key))
      this.#count(attempt, 'requeue')
    }
  }

  failed(attempt: Attempt, thrown: unknown): void {
    if (this.#around.stopping.aborted) {
      attempt.log.info('reconcile aborted: the controller stops', { error: abortReason(this.#around.stopping) })
      return
    }
    const { key } = attempt
    const during = attempt.current && describeAction(attempt.current)
    const error = attempt.timedOut ? timeoutError(this.#around, during, thrown) : asError(thrown)
    const failures = this.#queue.failures(key)
    const excuse = excuseOf(error, failures)
    if (excuse !== undefined) {
      attempt.log.debug(excuse, { during, error })
      this.#queue.retry(key, this.#queue.priority(key))
      this.#count(attempt, 'requeue')
      return
    }
    this.#instruments.errors.inc()
    this.#count(attempt, 'error')
    // What is missing, a namespace, a kind or what a name refers to, somebody may make without the object changing.
    const fate = isNotFound(error) ? 'retry' : fateOf(error)
    if (fate === 'terminal') {
      this.#instruments.terminalErrors.inc()
      this.#queue.forget(key)
      attempt.log.error('reconcile failed for good, waiting for a change', { during, error })
      return
    }
    this.#queue.retry(key, this.#queue.priority(key), error instanceof ApiError ? error.retryAfter : 0)
    if (fate === 'bug') attempt.log.error('reconcile failed by a bug', { during, error, failures: failures + 1 })
    else attempt.log.warn('reconcile failed, trying again', { during, error, failures: failures + 1 })
  }

  #count(attempt: Attempt, result: ReconcileResult): void {
    const seconds = (this.#clock.monotonic() - attempt.started) / 1000
    this.#instruments.results[result].inc()
    this.#instruments.time.observe(seconds)
    try {
      this.#tell?.({ result, seconds })
    } catch (error) {
      // The work is done, or will be done again; only somebody's account of it is wrong.
      attempt.log.error('onReconciled threw', { error: asError(error) })
    }
  }
}

/** Why a failure is part of the day's work, as a line for the log; undefined if it is not. */
function excuseOf(error: Error, failures: number): string | undefined {
  if (isConflict(error) && failures < USUAL_CONFLICTS) return 'conflict, trying again'
  // What it is made for goes too, and that is a change: until then there is nothing that anybody could put right.
  return isNamespaceEnding(error) ? 'namespace is being deleted, trying again' : undefined
}
