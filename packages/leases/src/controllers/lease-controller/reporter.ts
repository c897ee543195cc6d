import { asError, mergePatch, type ObjectRef, type Timer } from '@tenure/kube'
import { Lease } from '@tenure/kube/kinds'
import type { Component, ManagerContext } from '@tenure/runtime'
import { reportAnnotations, type LeaseReport } from './report.ts'

export interface LeaseReporterOptions {
  /** The Lease to report in. The operator made it. */
  readonly lease: ObjectRef
  /** How it is going, now: cheap, for it is asked often. */
  readonly read: () => LeaseReport
  /** Milliseconds between looks. Nothing is written unless something changed. Default 5000. */
  readonly every?: number
}

/** Of what the manager lends. */
type ReporterContext = Pick<ManagerContext, 'api' | 'clock' | 'log'>

/** Reports how a dedicated controller is going, to the operator that deployed it. Runs on the leader. */
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
  /** Undefined: unknown, so that it is written. */
  #reported: string | undefined

  constructor(context: ReporterContext, options: LeaseReporterOptions) {
    this.#context = context
    this.#options = options
  }

  start(): Promise<void> {
    this.#look()
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#ended.abort(new Error('the reporter stops'))
    await this.#writing
  }

  #look(): void {
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
    this.#timer = this.#context.clock.setTimer(this.#options.every ?? 5000, () => this.#look())
  }

  async #write(annotations: Readonly<Record<string, string | null>>, text: string): Promise<void> {
    const { api, log } = this.#context
    const { lease } = this.#options
    try {
      await api.patch(Lease, lease, mergePatch({ metadata: { annotations } }), { signal: this.#ended.signal })
      this.#reported = text
    } catch (error) {
      if (this.#ended.signal.aborted) return
      // The leases themselves are kept all the same, and the next look tries again.
      log.warn('lease report not written', { lease: lease.name, error: asError(error) })
    }
  }
}
