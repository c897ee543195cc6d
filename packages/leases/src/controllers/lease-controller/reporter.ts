import { asError, mergePatch, type ObjectRef, type Timer } from '@tenure/kube'
import { Lease } from '@tenure/kube/kinds'
import type { Component, OperatorContext } from '@tenure/runtime'
import { reportAnnotations, type LeaseReport } from './report.ts'

export interface LeaseReporterOptions {
  /** The Lease to report in, created by the operator. */
  readonly lease: ObjectRef
  /** The current state. Must be cheap. */
  readonly read: () => LeaseReport
  /** Milliseconds between checks; only a change is written. Default 5000. */
  readonly interval?: number
}

const DEFAULT_INTERVAL_MS = 5_000

type ReporterContext = Pick<OperatorContext, 'api' | 'clock' | 'log'>

/** Reports the state of a dedicated controller to the operator that deployed it. Runs on the leader. */
export function createLeaseReporter(context: ReporterContext, options: LeaseReporterOptions): Component {
  return new LeaseReporter(context, options)
}

class LeaseReporter implements Component {
  readonly name = 'lease reporter'
  readonly #context: ReporterContext
  readonly #options: LeaseReporterOptions
  readonly #ended = new AbortController()
  #timer: Timer | undefined
  #writing: Promise<void> | undefined
  /** The last report written; undefined if unknown. */
  #reported: string | undefined

  constructor(context: ReporterContext, options: LeaseReporterOptions) {
    this.#context = context
    this.#options = options
  }

  start(): Promise<void> {
    this.#check()
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#ended.abort(new Error('The lease reporter stops'))
    await this.#writing
  }

  #check(): void {
    const annotations = reportAnnotations(this.#options.read())
    const text = JSON.stringify(annotations)
    if (text !== this.#reported) {
      this.#writing = this.#write(annotations, text).finally(() => {
        this.#writing = undefined
        this.#schedule()
      })
    } else this.#schedule()
  }

  #schedule(): void {
    if (this.#ended.signal.aborted) return
    this.#timer = this.#context.clock.setTimer(this.#options.interval ?? DEFAULT_INTERVAL_MS, () => this.#check())
  }

  async #write(annotations: Readonly<Record<string, string | null>>, text: string): Promise<void> {
    const { api, log } = this.#context
    const { lease } = this.#options
    try {
      await api.patch(Lease, lease, mergePatch({ metadata: { annotations } }), { signal: this.#ended.signal })
      this.#reported = text
    } catch (error) {
      if (this.#ended.signal.aborted) return
      // Leases do not depend on the report; the next check tries again.
      log.warn('lease report not written, retrying', { lease: lease.name, error: asError(error) })
    }
  }
}
