import type { Counter, Gauge, Histogram, Metrics } from '../metrics/metrics.ts'
import type { Webhook } from './webhook.ts'

/** Metrics of one webhook. */
export interface WebhookMetrics {
  readonly inFlight: Gauge
  readonly latency: Histogram
  responded(status: number): void
}

/** The series of a webhook, with the names and the path label of controller-runtime. */
export function webhookMetrics(metrics: Metrics, webhook: Webhook): WebhookMetrics {
  const labels = { webhook: webhook.path }
  const requests = metrics.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Total number of admission requests by HTTP status code.',
    labels: ['webhook', 'code'],
  })
  const byCode = new Map<number, Counter>()
  const counterOf = (status: number): Counter => {
    let counter = byCode.get(status)
    if (!counter) byCode.set(status, (counter = requests.with({ ...labels, code: String(status) })))
    return counter
  }
  // Created at the start, so that a rate covers the first failure.
  for (const status of [200, 500]) counterOf(status).inc(0)
  return {
    inFlight: metrics
      .gauge({
        name: 'controller_runtime_webhook_requests_in_flight',
        help: 'Current number of admission requests being served.',
        labels: ['webhook'],
      })
      .with(labels),
    latency: metrics
      .histogram({
        name: 'controller_runtime_webhook_latency_seconds',
        help: 'Histogram of the latency of processing admission requests.',
        labels: ['webhook'],
      })
      .with(labels),
    responded: (status) => counterOf(status).inc(),
  }
}
