import type { Span as OtelSpan, Tracer as OtelTracer } from '@opentelemetry/api'
import { trace } from '@opentelemetry/api'
import type { Transport, TransportResponse } from '@tenure/kube'
import { ConnectionError } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { createMetrics } from '../metrics/prometheus.ts'
import { noTracer, openTelemetryTracer, tracedTransport } from './tracing.ts'
import { measuredTransport } from '../metrics/transport-metrics.ts'

const answer = (status: number): TransportResponse => ({ status, headers: {}, body: {} as never })

function transportOf(answers: (number | Error)[], clock?: VirtualClock): Transport {
  return {
    async request() {
      const next = answers.shift() ?? 200
      if (clock) await clock.advance(300)
      if (next instanceof Error) throw next
      return answer(next)
    },
    close: () => Promise.resolve(),
  }
}
const lost = new ConnectionError('TENURE_CONNECTION_LOST', 'lost')

describe('measuredTransport', () => {
  test('counts and times requests by client-go’s names', async () => {
    const clock = new VirtualClock()
    const metrics = await createMetrics({ processMetrics: false })
    const transport = measuredTransport(transportOf([200, 200, 409, lost], clock), { metrics, clock, host: 'h:6443' })
    await transport.request({ method: 'GET', path: '/a' })
    await transport.request({ method: 'GET', path: '/a', stream: true })
    await transport.request({ method: 'PUT', path: '/a' })
    await expect(transport.request({ method: 'GET', path: '/a' })).rejects.toBe(lost)
    const { text } = await metrics.expose()
    expect(text).toContain('rest_client_requests_total{code="200",method="GET",host="h:6443"} 2')
    expect(text).toContain('rest_client_requests_total{code="409",method="PUT",host="h:6443"} 1')
    expect(text).toContain('rest_client_requests_total{code="<error>",method="GET",host="h:6443"} 1')
    expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",host="h:6443",le="0.25"} 0')
    expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",host="h:6443",le="0.5"} 2')
    await transport.close()
  })
})

describe('tracing', () => {
  afterEach(() => trace.disable())

  test('does nothing, and wraps nothing, without a tracer', async () => {
    const transport = transportOf([])
    expect(tracedTransport(transport, noTracer)).toBe(transport)
    expect(await noTracer.span('x', {}, (span) => Promise.resolve((span.set({ a: 1 }), 7)))).toBe(7)
  })

  test('hands spans to OpenTelemetry, with what went wrong', async () => {
    const spans: Record<string, unknown>[] = []
    const tracer = {
      startActiveSpan(name: string, options: { attributes: object }, work: (span: OtelSpan) => unknown) {
        const record: Record<string, unknown> = { name, ...options.attributes }
        spans.push(record)
        return work({
          setAttributes: (more: object) => Object.assign(record, more),
          recordException: (error: Error) => (record['exception'] = error.message),
          setStatus: (status: object) => (record['status'] = status),
          end: () => (record['ended'] = true),
        } as unknown as OtelSpan)
      },
    } as unknown as OtelTracer
    trace.setGlobalTracerProvider({ getTracer: () => tracer })
    const transport = tracedTransport(transportOf([200, lost]), await openTelemetryTracer())
    await transport.request({ method: 'GET', path: '/api/v1/pods?limit=1' })
    await expect(transport.request({ method: 'POST', path: '/x' })).rejects.toBe(lost)
    expect(spans).toEqual([
      {
        name: 'GET Kubernetes API',
        'http.request.method': 'GET',
        'url.path': '/api/v1/pods',
        'http.response.status_code': 200,
        ended: true,
      },
      {
        name: 'POST Kubernetes API',
        'http.request.method': 'POST',
        'url.path': '/x',
        exception: 'lost',
        status: { code: 2, message: 'lost' },
        ended: true,
      },
    ])
    await transport.close()
  })

  test('runs the work, at once or later, although no SDK is set up', async () => {
    const tracer = await openTelemetryTracer()
    expect(tracer.span('plan', { object: {} }, () => 'at once')).toBe('at once')
    expect(() =>
      tracer.span('plan', {}, () => {
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(await tracer.span('reconcile', { controller: 'a' }, () => Promise.resolve('done'))).toBe('done')
  })
})
