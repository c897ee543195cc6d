// Define an operator and run it.
export * from './operator/index.ts'
export * from './manager/index.ts'
export * from './rbac/index.ts'
export { DEFINITION_VERSION, definitionVersion } from './definitions/index.ts'

// Controllers, and the actions that they plan.
export * from './controller/index.ts'
export * from './actions/index.ts'
export * from './queue/index.ts'

// Services of the context of an operator.
export { defaultIdentity } from './election/options.ts'
export { Discovery } from './discovery/index.ts'
export { EventRecorder, type EventRecorderOptions } from './events/index.ts'
export { Probes } from './health/index.ts'
export * from './informer/index.ts'
export * from './log/logger.ts'
export { createLogger, type CreateLoggerOptions } from './log/pino-logger.ts'
export { type LogLevel } from './log/text-logger.ts'
export { collectorComponent } from './metrics/collector.ts'
export * from './metrics/metrics.ts'
export { createMetrics, type CreateMetricsOptions } from './metrics/prometheus.ts'
export { DueHeap, type DueEntry } from './expiry/due-heap.ts'
export { formatDuration, parseDuration } from './time/duration.ts'
export { ceilSecond, floorSecond, parseTime, parseTimeOrDate, rfc3339 } from './time/rfc3339.ts'
export { openTelemetryTracer, type Span, type SpanAttributes, type Tracer } from './tracing/tracing.ts'
