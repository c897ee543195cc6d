import type { Gauge, Metrics } from '@tenure/runtime'

/** The metrics of a server, named like those of Prometheus' HTTP handlers. */
export interface HttpMetrics {
  readonly inFlight: Gauge
  readonly streams: Gauge
  /** `seconds` is undefined for streams, whose duration depends on the reader. */
  completed(method: string, route: string, status: number, seconds: number | undefined): void
}

/** Other methods are counted as `other`: callers can send any method, and each would be a new series. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function httpMetrics(metrics: Metrics): HttpMetrics {
  const requests = metrics.counter({
    name: 'http_requests_total',
    help: 'Number of HTTP requests completed.',
    labels: ['method', 'route', 'code'],
  })
  const durations = metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response, in seconds. Streams are not measured.',
    labels: ['method', 'route'],
  })
  return {
    inFlight: metrics
      .gauge({ name: 'http_requests_in_flight', help: 'Number of HTTP requests in progress, including streams.' })
      .with({}),
    streams: metrics.gauge({ name: 'http_streams_open', help: 'Number of open streamed responses.' }).with({}),
    completed(sent, route, status, seconds) {
      const method = KNOWN_METHODS.has(sent) ? sent : 'other'
      requests.with({ method, route, code: String(status) }).inc()
      if (seconds !== undefined) durations.with({ method, route }).observe(seconds)
    },
  }
}
