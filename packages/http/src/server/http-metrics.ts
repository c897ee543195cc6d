import type { Gauge, Metrics } from '@tenure/runtime'

/** The figures of a server; names as Prometheus' own handlers have them. */
export interface HttpMetrics {
  readonly inFlight: Gauge
  readonly streams: Gauge
  /** `seconds` undefined: a stream, whose length says nothing about us. */
  answered(method: string, route: string, status: number, seconds: number | undefined): void
}

/** A caller may send any method there is, and each would be a series for ever. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function httpMetrics(metrics: Metrics): HttpMetrics {
  const requests = metrics.counter({
    name: 'http_requests_total',
    help: 'HTTP requests answered.',
    labels: ['method', 'route', 'code'],
  })
  const durations = metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer; streams are not measured.',
    labels: ['method', 'route'],
  })
  return {
    inFlight: metrics
      .gauge({ name: 'http_requests_in_flight', help: 'HTTP requests being answered, streams included.' })
      .with({}),
    streams: metrics
      .gauge({ name: 'http_streams_open', help: 'HTTP answers that go on until the reader leaves.' })
      .with({}),
    answered(sent, route, status, seconds) {
      const method = KNOWN_METHODS.has(sent) ? sent : 'other'
      requests.with({ method, route, code: String(status) }).inc()
      if (seconds !== undefined) durations.with({ method, route }).observe(seconds)
    },
  }
}
