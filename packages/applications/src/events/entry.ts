import { REASONS } from '../api/index.ts'

export const EVENT_TYPES = ['Normal', 'Warning', 'Error'] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const SEVERITIES = ['Info', 'Warning', 'Error', 'Critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Object that an event is about. It need not exist: ValidationFailed is about objects that were refused. */
export interface InvolvedObject {
  readonly apiVersion?: string | undefined
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
  readonly uid?: string | undefined
}

export interface EventRecord {
  readonly type: EventType
  /** Default: Info, Warning or Error, by type. */
  readonly severity?: Severity | undefined
  /** In UpperCamelCase. */
  readonly reason: string
  /** Cut to 1,024 characters. */
  readonly message: string
  readonly involvedObject: InvolvedObject
  /** Number of occurrences that are recorded together. Default 1. */
  readonly count?: number | undefined
  /** Further facts. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** An event as `GET /events` shows it. Times are RFC 3339. */
export interface EventEntry extends EventRecord {
  readonly id: string
  readonly severity: Severity
  readonly source: { readonly component: string; readonly host?: string | undefined }
  readonly firstTimestamp: string
  readonly lastTimestamp: string
  readonly count: number
}

/** Selects events: every given field must match. */
export interface EventFilter {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly kind?: string | undefined
  readonly type?: EventType | undefined
  readonly severity?: Severity | undefined
  /** Earliest last occurrence, in milliseconds since 1970. */
  readonly since?: number | undefined
  /** Maximum number of events, newest first. Default: all. */
  readonly limit?: number | undefined
}

const DEFAULT_SEVERITY: Readonly<Record<EventType, Severity>> = { Normal: 'Info', Warning: 'Warning', Error: 'Error' }

export function severityOf({ type, severity }: Pick<EventRecord, 'type' | 'severity'>): Severity {
  return severity ?? DEFAULT_SEVERITY[type]
}

/** Kubernetes has no Error type: a Warning with the reason ReconciliationFailed becomes one. */
export function typeFrom(type: string | undefined, reason: string): EventType {
  if (type !== 'Warning') return 'Normal'
  return reason === REASONS.reconciliationFailed ? 'Error' : 'Warning'
}

export function matches(record: EventRecord & { readonly severity: Severity }, filter: EventFilter): boolean {
  const { involvedObject } = record
  return (
    (filter.namespace === undefined || involvedObject.namespace === filter.namespace) &&
    (filter.name === undefined || involvedObject.name === filter.name) &&
    (filter.kind === undefined || involvedObject.kind === filter.kind) &&
    (filter.type === undefined || record.type === filter.type) &&
    (filter.severity === undefined || record.severity === filter.severity)
  )
}
