import type { Counter, Histogram, Metrics } from '../metrics/metrics.ts'

/** What the queue reads off itself when somebody asks for the metrics. */
export interface QueueState {
  readonly depth: number
  /** Keys added, and added again after a failure, since the queue began. */
  readonly adds: number
  readonly retries: number
  /** Seconds that each running key has been running. */
  readonly runningFor: readonly number[]
}

export interface QueueInstruments {
  readonly queueDuration: Histogram
  readonly workDuration: Histogram
  /** Ends the reporting. */
  close(): void
}

/** client-go's: 10 ns to 1000 s, a factor of ten apart. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000]
const LABELS = ['name', 'controller'] as const

/**
 * The queue's metrics under the names client-go and controller-runtime use. Only the two histograms cost anything
 * per key; the rest is counted in plain numbers and handed over when somebody reads.
 */
export function queueInstruments(metrics: Metrics, name: string, read: () => QueueState): QueueInstruments {
  const labels = { name, controller: name }
  const gauge = (suffix: string, help: string) => metrics.gauge({ name: `workqueue_${suffix}`, help, labels: LABELS })
  const counter = (suffix: string, help: string) =>
    metrics.counter({ name: `workqueue_${suffix}`, help, labels: LABELS })
  const histogram = (suffix: string, help: string) =>
    metrics.histogram({ name: `workqueue_${suffix}`, help, labels: LABELS, buckets: BUCKETS })

  const depth = gauge('depth', 'Keys that wait to be worked on.')
  const unfinished = gauge('unfinished_work_seconds', 'Seconds that running keys have been running, added up.')
  const longest = gauge('longest_running_processor_seconds', 'Seconds that the longest running key has been running.')
  const adds = counter('adds_total', 'Keys added.')
  const retries = counter('retries_total', 'Keys added again after a failure.')
  const queueDuration = histogram('queue_duration_seconds', 'Seconds a key waits before it is worked on.')
  const workDuration = histogram('work_duration_seconds', 'Seconds that work on a key takes.')

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
