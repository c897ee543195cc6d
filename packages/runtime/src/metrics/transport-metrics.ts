import type { Clock, Transport } from '@tenure/kube'
import type { Counter, Histogram, Metrics } from './metrics.ts'

export interface TransportMetricsOptions {
  readonly metrics: Metrics
  readonly clock: Clock
  /** Label value that identifies the API server: `10.0.0.1:6443`. */
  readonly host: string
}

/** client-go's buckets, in seconds: from a read in the same data centre to a request that times out. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 45, 60]

/** Measures requests under client-go's metric names. A request without a response has the code `<error>`. */
export function measuredTransport(transport: Transport, options: TransportMetricsOptions): Transport {
  const { metrics, clock, host } = options
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Number of requests to the API server by status code, method and host.',
    labels: ['code', 'method', 'host'],
  })
  const durations = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Latency of requests to the API server in seconds by verb and host, without watches.',
    labels: ['verb', 'host'],
    buckets: BUCKETS,
  })
  // Series are looked up once per method and code, not once per request.
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  const count = (method: string, code: string): void => {
    const key = `${method} ${code}`
    let counter = counters.get(key)
    if (!counter) counters.set(key, (counter = requests.with({ code, method, host })))
    counter.inc()
  }
  const observe = (verb: string, milliseconds: number): void => {
    let histogram = histograms.get(verb)
    if (!histogram) histograms.set(verb, (histogram = durations.with({ verb, host })))
    histogram.observe(milliseconds / 1_000)
  }
  return {
    async request(request) {
      const began = clock.monotonic()
      try {
        const response = await transport.request(request)
        count(request.method, String(response.status))
        return response
      } catch (error) {
        count(request.method, '<error>')
        throw error
      } finally {
        if (!request.stream) observe(request.method, clock.monotonic() - began)
      }
    },
    close: () => transport.close(),
  }
}
