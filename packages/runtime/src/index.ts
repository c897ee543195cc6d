export * from './actions/index.ts'
export * from './certificates/index.ts'
export * from './configuration/index.ts'
export * from './controller/index.ts'
export * from './definitions/index.ts'
export * from './discovery/index.ts'
export * from './time/duration.ts'
export * from './election/index.ts'
export * from './events/index.ts'
export * from './health/index.ts'
export * from './informer/index.ts'
export { createLogger, type CreateLoggerOptions } from './log/pino-logger.ts'
export { type LogLevel } from './log/text-logger.ts'
export * from './log/logger.ts'
export * from './manager/index.ts'
export { createMetrics, type CreateMetricsOptions } from './metrics/prometheus.ts'
export * from './metrics/metrics.ts'
export * from './operator/index.ts'
export * from './queue/index.ts'
export * from './rbac/index.ts'
export {
  noTracer,
  openTelemetryTracer,
  tracedTransport,
  type Span,
  type SpanAttributes,
  type Tracer,
} from './tracing/tracing.ts'
export { measuredTransport, type TransportMetricsOptions } from './metrics/transport-metrics.ts'
export * from './webhooks/index.ts'
