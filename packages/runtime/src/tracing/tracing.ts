import type { Span as OpenTelemetrySpan } from '@opentelemetry/api'
import type { Transport } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Facts } from '../log/logger.ts'

/** Strings, numbers and booleans become span attributes; other values are dropped. */
export type SpanAttributes = Facts

export interface Span {
  /** Adds attributes to the span. */
  set(attributes: SpanAttributes): void
}

/** Creates spans. `noTracer` discards them; `openTelemetryTracer` passes them to OpenTelemetry. */
export interface Tracer {
  /**
   * Runs `work` in a span that ends when `work` returns or its promise settles, and is marked as failed if it throws or
   * rejects. Spans created inside become its children.
   */
  span<R>(name: string, attributes: SpanAttributes, work: (span: Span) => R): R
}

const noSpan: Span = { set: () => undefined }

/** Discards all spans. */
export const noTracer: Tracer = { span: (_name, _attributes, work) => work(noSpan) }

/** Creates spans with the OpenTelemetry SDK that the program has registered; without one they are dropped. */
export async function openTelemetryTracer(name = 'tenure'): Promise<Tracer> {
  const { SpanStatusCode, trace } = await import('@opentelemetry/api')
  const tracer = trace.getTracer(name)
  const fail = (span: OpenTelemetrySpan, thrown: unknown): void => {
    const error = asError(thrown)
    span.recordException(error)
    span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
    span.end()
  }
  const settle = async <R>(span: OpenTelemetrySpan, promise: Promise<R>): Promise<R> => {
    try {
      const result = await promise
      span.end()
      return result
    } catch (error) {
      fail(span, error)
      throw error
    }
  }
  return {
    span: <R>(title: string, attributes: SpanAttributes, work: (span: Span) => R): R =>
      tracer.startActiveSpan(title, { attributes: plain(attributes) }, (span) => {
        let result: R
        try {
          result = work({ set: (more) => void span.setAttributes(plain(more)) })
        } catch (error) {
          fail(span, error)
          throw error
        }
        // `settle` returns a promise of the same value, so the type is still R.
        if (result instanceof Promise) return settle(span, result) as R
        span.end()
        return result
      }),
  }
}

function plain(attributes: SpanAttributes): Record<string, string | number | boolean> {
  const kept: Record<string, string | number | boolean> = {}
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') kept[key] = value
  }
  return kept
}

/** Traces each request to the API server. The span of a watch ends with the response headers. */
export function tracedTransport(transport: Transport, tracer: Tracer): Transport {
  if (tracer === noTracer) return transport
  return {
    request(request) {
      // The query holds selectors and continue tokens: unbounded cardinality.
      const [path = request.path] = request.path.split('?', 1)
      const attributes = { 'http.request.method': request.method, 'url.path': path }
      return tracer.span(`${request.method} Kubernetes API`, attributes, async (span) => {
        const response = await transport.request(request)
        span.set({ 'http.response.status_code': response.status })
        return response
      })
    },
    close: () => transport.close(),
  }
}
