import { type Kind, kindKey } from '@tenure/kube'
import type { Counter, Metrics } from '../metrics/metrics.ts'

/** Counters of an informer. Together they tell a quiet cache from one that keeps restarting. */
export interface InformerMetrics {
  /** Full lists: ideally one. */
  readonly lists: Counter
  /** Watches that ended for any reason and were restarted. */
  readonly restarts: Counter
  /** Lists and watches that failed. */
  readonly failures: Counter
}

export function informerMetrics(metrics: Metrics, kind: Kind): InformerMetrics {
  const labels = { kind: kindKey(kind) }
  const counter = (name: string, help: string): Counter =>
    metrics.counter({ name, help, labels: ['kind'] }).with(labels)
  return {
    lists: counter('tenure_informer_lists_total', 'Number of full lists by informers.'),
    restarts: counter('tenure_informer_watch_restarts_total', 'Number of watches that informers restarted.'),
    failures: counter('tenure_informer_failures_total', 'Number of failed lists and watches of informers.'),
  }
}
