import type { Span as OpenTelemetrySpan } from '@opentelemetry/api'
import type { Transport } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Facts } from '../log/logger.ts'

/** Texts, numbers and booleans go into the span; whatever else there is, is left out. */
export type SpanAttributes = Facts

export interface Span {
  /** Adds what is known only later. */
  set(attributes: SpanAttributes): void
}

/** Where spans go. `noTracer` drops them; `openTelemetryTracer` hands them to OpenTelemetry. */
export interface Tracer {
  /**
   * Runs `work` inside a span that ends when it does, also if that is a promise, and fails if it throws or rejects.
   * Spans that begin inside are its children.
   */
  span<R>(name: string, attributes: SpanAttributes, work: (span: Span) => R): R
}

const noSpan: Span = { set: () => undefined }

/** Traces nothing, at the cost of a call. */
export const noTracer: Tracer = { span: (_name, _attributes, work) => work(noSpan) }

/** Spans for OpenTelemetry, by whatever SDK the program has set up; without one they go nowhere. */
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
        // A promise of the same, so still an R.
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

/** A span around each request to the API server; a watch's ends when its first byte may come. */
export function tracedTransport(transport: Transport, tracer: Tracer): Transport {
  if (tracer === noTracer) return transport
  return {
    request(request) {
      // The query holds selectors and continue tokens: too many values, and none of a trace's business.
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
