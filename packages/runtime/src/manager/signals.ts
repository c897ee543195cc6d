import { type Clock, systemClock, type Timer } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'

export interface StopSignals {
  readonly signal: AbortSignal
  dispose(): void
}

/** The part of `process` that is used here. */
export interface SignalProcess {
  on(name: StopSignalName, listener: (name: StopSignalName) => void): unknown
  off(name: StopSignalName, listener: (name: StopSignalName) => void): unknown
  exit(code: number): void
}

type StopSignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

export interface StopSignalsOptions {
  readonly log: Logger
  /** Default: the system clock. */
  readonly clock?: Clock
  /**
   * Milliseconds after which a signal of a person (Ctrl-C, a terminal that closes) ends the process although work is left.
   * Default 4,500.
   */
  readonly interactiveDeadline?: number
  /** The same for SIGTERM. Default: none, the grace period of the manager decides. */
  readonly deadline?: number | undefined
  /** Default: this process. */
  readonly process?: SignalProcess
}

const DEFAULT_INTERACTIVE_DEADLINE_MS = 4_500
/** One Ctrl-C reaches a program several times: from the terminal, from npm and from the launcher. */
const REPETITION_MS = 300
/** The exit code of a program that Ctrl-C ended. */
const INTERRUPTED = 130

/**
 * Aborts on SIGINT, SIGTERM or SIGHUP, which comes when a terminal closes. A second Ctrl-C ends the process at once, and so does
 * the deadline.
 */
export function stopSignals(options: StopSignalsOptions): StopSignals {
  const { log, clock = systemClock, process: target = process } = options
  const { interactiveDeadline = DEFAULT_INTERACTIVE_DEADLINE_MS, deadline } = options
  const controller = new AbortController()
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let interruptedAt: number | undefined
  let timer: Timer | undefined
  let due = Infinity
  const limit = (milliseconds: number): void => {
    const end = clock.monotonic() + milliseconds
    if (end >= due) return
    due = end
    timer?.cancel()
    timer = clock.setTimer(milliseconds, () => {
      log.error('work did not end in time, exiting')
      target.exit(1)
    })
  }
  const onSignal = (name: StopSignalName): void => {
    const now = clock.monotonic()
    if (name === 'SIGINT') {
      if (interruptedAt !== undefined && now - interruptedAt >= REPETITION_MS) target.exit(INTERRUPTED)
      interruptedAt ??= now
    }
    const after = name === 'SIGTERM' ? deadline : interactiveDeadline
    if (after !== undefined) limit(after)
    if (controller.signal.aborted) return
    log.info('stopping', { signal: name })
    controller.abort(new Error(`${name} received`))
  }
  for (const name of names) target.on(name, onSignal)
  return {
    signal: controller.signal,
    dispose() {
      timer?.cancel()
      for (const name of names) target.off(name, onSignal)
    },
  }
}

/** Resolves when `signal` aborts. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
