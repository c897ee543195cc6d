import type { Span as OtelSpan, Tracer as OtelTracer } from '@opentelemetry/api'
import { trace } from '@opentelemetry/api'
import type { Transport, TransportResponse } from '@tenure/kube'
import { ConnectionError } from '@tenure/kube'
import { afterEach, describe, expect, test } from 'vitest'
import { noTracer, openTelemetryTracer, tracedTransport } from './tracing.ts'

const answer = (status: number): TransportResponse => ({ status, headers: {}, body: {} as never })

function transportOf(answers: (number | Error)[]): Transport {
  return {
    async request() {
      const next = answers.shift() ?? 200
      if (next instanceof Error) throw next
      return answer(next)
    },
    close: () => Promise.resolve(),
  }
}
const lost = new ConnectionError('TENURE_CONNECTION_LOST', 'lost')

describe('tracedTransport', () => {
  afterEach(() => trace.disable())

  test('noTracer does not wrap the transport', async () => {
    const transport = transportOf([])
    expect(tracedTransport(transport, noTracer)).toBe(transport)
    expect(await noTracer.span('x', {}, (span) => Promise.resolve((span.set({ a: 1 }), 7)))).toBe(7)
  })

  test('spans and their failures reach OpenTelemetry', async () => {
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

  test('sync and async work runs without a registered SDK', async () => {
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
