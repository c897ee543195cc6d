import type { Counter, Histogram, Metrics } from '../metrics/metrics.ts'

/** How a reconcile ended, in controller-runtime's words. */
export type ReconcileResult = 'success' | 'requeue' | 'requeue_after' | 'error'

export interface ControllerInstruments {
  readonly results: Readonly<Record<ReconcileResult, Counter>>
  readonly errors: Counter
  readonly terminalErrors: Counter
  readonly time: Histogram
  /** Ends the reporting. */
  close(): void
}

/** controller-runtime's: 5 ms to a minute. */
const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

export function controllerInstruments(
  metrics: Metrics,
  controller: string,
  concurrency: number,
  activeWorkers: () => number,
): ControllerInstruments {
  const labels = ['controller']
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles, by how they ended.',
    labels: ['controller', 'result'],
  })
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed.',
    labels,
  })
  const terminal = metrics.counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that failed and are not repeated until the object changes.',
    labels,
  })
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Seconds that a reconcile takes.',
    labels,
    buckets: BUCKETS,
  })
  const most = metrics.gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Objects worked on at once, at most.',
    labels,
  })
  const active = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Objects being worked on now.',
    labels,
  })

  most.with({ controller }).set(concurrency)
  const activeGauge = active.with({ controller })
  const stop = metrics.onCollect(() => activeGauge.set(activeWorkers()))
  const counterOf = (result: ReconcileResult): Counter => total.with({ controller, result })
  return {
    results: {
      success: counterOf('success'),
      requeue: counterOf('requeue'),
      requeue_after: counterOf('requeue_after'),
      error: counterOf('error'),
    },
    errors: errors.with({ controller }),
    terminalErrors: terminal.with({ controller }),
    time: time.with({ controller }),
    close() {
      activeGauge.set(0)
      stop()
    },
  }
}
