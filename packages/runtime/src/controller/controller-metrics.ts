import type { Counter, Histogram, Metrics } from '../metrics/metrics.ts'

/** How a reconcile ended, in controller-runtime's words. */
export type ReconcileResult = 'success' | 'requeue' | 'requeue_after' | 'error'

export interface ControllerInstruments {
  readonly results: Readonly<Record<ReconcileResult, Counter>>
  readonly errors: Counter
  readonly terminalErrors: Counter
  readonly time: Histogram
  /** Stops reporting. */
  close(): void
}

/** controller-runtime's buckets, in seconds: 5 ms to a minute. */
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
    help: 'Total number of reconciliations by result.',
    labels: ['controller', 'result'],
  })
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Total number of failed reconciliations.',
    labels,
  })
  const terminal = metrics.counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Total number of reconciliations with a terminal error.',
    labels,
  })
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Seconds per reconciliation.',
    labels,
    buckets: BUCKETS,
  })
  const most = metrics.gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Maximum number of concurrent reconciliations.',
    labels,
  })
  const active = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Number of reconciliations in progress.',
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
