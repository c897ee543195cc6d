import { type Kind, kindKey } from '@tenure/kube'
import type { Counter, Metrics } from '../metrics/metrics.ts'

/** What an informer counts. Together they tell a quiet cache from one that keeps starting over. */
export interface InformerMetrics {
  /** Whole states read: one in a good life. */
  readonly lists: Counter
  /** Watches that ended, for whatever reason, and were begun anew. */
  readonly restarts: Counter
  /** Those of them that failed. */
  readonly failures: Counter
}

export function informerMetrics(metrics: Metrics, kind: Kind): InformerMetrics {
  const labels = { kind: kindKey(kind) }
  const counter = (name: string, help: string): Counter =>
    metrics.counter({ name, help, labels: ['kind'] }).with(labels)
  return {
    lists: counter('tenure_informer_lists_total', 'Whole states that informers read.'),
    restarts: counter('tenure_informer_watch_restarts_total', 'Watches that informers began anew.'),
    failures: counter('tenure_informer_failures_total', 'Lists and watches of informers that failed.'),
  }
}
