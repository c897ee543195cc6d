import type { Counter, Histogram, Metrics } from '../metrics/metrics.ts'

/** State that the queue reports on each exposition. */
export interface QueueState {
  readonly depth: number
  /** Keys added, and retried after a failure, since the queue was created. */
  readonly adds: number
  readonly retries: number
  /** Seconds that each running key has been running. */
  readonly runningFor: readonly number[]
}

export interface QueueInstruments {
  readonly queueDuration: Histogram
  readonly workDuration: Histogram
  /** Stops reporting. */
  close(): void
}

/** client-go's buckets, in seconds: 10 ns to 1000 s in powers of ten. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000]
const LABELS = ['name', 'controller'] as const

/**
 * Queue metrics under the names of client-go and controller-runtime. Only the two histograms cost time per key;
 * everything else is computed on exposition.
 */
export function queueInstruments(metrics: Metrics, name: string, read: () => QueueState): QueueInstruments {
  const labels = { name, controller: name }
  const gauge = (suffix: string, help: string) => metrics.gauge({ name: `workqueue_${suffix}`, help, labels: LABELS })
  const counter = (suffix: string, help: string) =>
    metrics.counter({ name: `workqueue_${suffix}`, help, labels: LABELS })
  const histogram = (suffix: string, help: string) =>
    metrics.histogram({ name: `workqueue_${suffix}`, help, labels: LABELS, buckets: BUCKETS })

  const depth = gauge('depth', 'Current number of keys in the queue.')
  const unfinished = gauge('unfinished_work_seconds', 'Sum of the seconds that running keys have been running.')
  const longest = gauge('longest_running_processor_seconds', 'Seconds that the longest-running key has been running.')
  const adds = counter('adds_total', 'Number of keys added.')
  const retries = counter('retries_total', 'Number of retries after a failure.')
  const queueDuration = histogram('queue_duration_seconds', 'Seconds that a key waits in the queue.')
  const workDuration = histogram('work_duration_seconds', 'Seconds that processing a key takes.')

  const depthGauge = depth.with(labels)
  const unfinishedGauge = unfinished.with(labels)
  const longestGauge = longest.with(labels)
  const reportAdds = delta(adds.with(labels))
  const reportRetries = delta(retries.with(labels))
  const collect = (): void => {
    const state = read()
    let sum = 0
    let max = 0
    for (const seconds of state.runningFor) {
      sum += seconds
      max = Math.max(max, seconds)
    }
    depthGauge.set(state.depth)
    unfinishedGauge.set(sum)
    longestGauge.set(max)
    reportAdds(state.adds)
    reportRetries(state.retries)
  }
  const stop = metrics.onCollect(collect)
  return {
    queueDuration: queueDuration.with(labels),
    workDuration: workDuration.with(labels),
    close() {
      collect()
      stop()
      for (const gauge of [depthGauge, unfinishedGauge, longestGauge]) gauge.set(0)
    },
  }
}

/** Turns a running total into increments of a counter. */
function delta(counter: Counter): (total: number) => void {
  let reported = 0
  return (total) => {
    if (total > reported) counter.inc(total - reported)
    reported = total
  }
}
