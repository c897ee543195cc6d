import { abortReason, ApiError, asError, type Clock, type Fate, fateOf, isConflict, isNotFound } from '@tenure/kube'
import { describeAction, isNamespaceTerminating } from '../actions/index.ts'
import { isExpectedRace } from '../queue/expected-race.ts'
import type { WorkQueue } from '../queue/index.ts'
import type { ControllerInstruments, ReconcileResult } from './controller-metrics.ts'
import type { ReconcileOutcome } from './definition.ts'
import { type ReconcileAttempt, timeoutError, type ReconcilerContext } from './reconcile.ts'

export interface ResultHandlerOptions {
  /** Milliseconds since 1970 at which the key is to be reconciled again. */
  readonly requeueAt: (key: string, at: number) => void
  readonly retryTerminal: boolean
  readonly onReconciled?: ((outcome: ReconcileOutcome) => void) | undefined
}

/** Decides what happens to a key after its reconcile: forgotten, reconciled later, or retried. */
export class ResultHandler {
  readonly #context: ReconcilerContext
  readonly #queue: WorkQueue
  readonly #instruments: ControllerInstruments
  readonly #clock: Clock
  readonly #options: ResultHandlerOptions

  constructor(
    context: ReconcilerContext,
    queue: WorkQueue,
    instruments: ControllerInstruments,
    options: ResultHandlerOptions,
  ) {
    this.#context = context
    this.#queue = queue
    this.#instruments = instruments
    this.#clock = context.clock
    this.#options = options
  }

  succeeded(attempt: ReconcileAttempt): void {
    const { key, requeueAt } = attempt
    if (requeueAt === undefined) {
      this.#queue.forget(key)
      this.#count(attempt, 'success')
      return
    }
    if (requeueAt > this.#clock.now()) {
      this.#queue.forget(key)
      this.#options.requeueAt(key, requeueAt)
      this.#count(attempt, 'requeue_after')
    } else {
      // A plan that asks for a time in the past would run in circles without a backoff.
      this.#queue.retry(key, this.#queue.priority(key))
      this.#count(attempt, 'requeue')
    }
  }

  failed(attempt: ReconcileAttempt, thrown: unknown): void {
    if (this.#context.stopping.aborted) {
      attempt.log.info('reconcile aborted, controller is stopping', { error: abortReason(this.#context.stopping) })
      return
    }
    const { key } = attempt
    const during = attempt.current && describeAction(attempt.current)
    const error = attempt.timedOut ? timeoutError(this.#context, during, thrown) : asError(thrown)
    const failures = this.#queue.failures(key)
    const isRace = isExpectedRace(error, failures + 1)
    const expected = expectedFailure(error, isRace)
    if (expected !== undefined) {
      attempt.log.debug(expected, { during, error })
      this.#queue.retry(key, this.#queue.priority(key))
      this.#count(attempt, 'requeue', error)
      return
    }
    this.#instruments.errors.inc()
    this.#count(attempt, 'error', error)
    const fate = this.#fateOf(error)
    if (fate === 'terminal') {
      this.#instruments.terminalErrors.inc()
      this.#queue.forget(key)
      attempt.log.error('reconcile failed, waiting for a change of the object', { during, error })
      return
    }
    this.#queue.retry(key, this.#queue.priority(key), error instanceof ApiError ? error.retryAfter : 0)
    if (fate === 'bug')
      attempt.log.error('reconcile failed because of a bug, retrying', { during, error, failures: failures + 1 })
    else attempt.log[isRace ? 'debug' : 'warn']('reconcile failed, retrying', { during, error, failures: failures + 1 })
  }

  /** A missing namespace, kind or referenced object may appear without a change of this object: that is retried. */
  #fateOf(error: Error): Fate {
    const fate = isNotFound(error) ? 'retry' : fateOf(error)
    return fate === 'terminal' && this.#options.retryTerminal ? 'retry' : fate
  }

  #count(attempt: ReconcileAttempt, result: ReconcileResult, error?: Error): void {
    const seconds = (this.#clock.monotonic() - attempt.started) / 1000
    this.#instruments.results[result].inc()
    this.#instruments.time.observe(seconds)
    const { onReconciled } = this.#options
    if (!onReconciled) return
    try {
      onReconciled({ key: attempt.key, result, seconds, error })
    } catch (thrown) {
      // The reconcile itself is not affected: only the operator's own metrics are.
      attempt.log.error('onReconciled threw', { error: asError(thrown) })
    }
  }
}

/** The log line of a failure that is expected and no error; undefined if it is one. */
function expectedFailure(error: Error, isRace: boolean): string | undefined {
  if (isRace && isConflict(error)) return 'conflict, retrying'
  // The object is deleted with its namespace, and that is a change.
  return isNamespaceTerminating(error) ? 'namespace is terminating, retrying' : undefined
}
