import type { Clock, Stored } from '@tenure/kube'
import type { Event } from '@tenure/kube/kinds'
import { parseTime } from '@tenure/runtime'
import { fromNow, type RowOutput } from '@tenure/runtime/cli'
import { keyOfObject, REPORTERS } from './managed-objects.ts'

/** One event about a managed object. */
export interface EventRow {
  readonly id: string
  readonly namespace: string
  /** Milliseconds since 1970. */
  readonly lastSeen: number
  readonly type: string
  readonly reason: string
  /** The object that it is about. */
  readonly kind: string
  readonly name: string
  readonly count: number
  readonly reporter: string
  readonly message: string
}

export interface ManagedEventFilter {
  /** In lower case, without a plural s. */
  readonly kind?: string | undefined
  readonly name?: string | undefined
  readonly type?: string | undefined
  /** Milliseconds since 1970. */
  readonly since?: number | undefined
}

export function eventRow(event: Stored<Event>): EventRow {
  const { metadata, note = '', reason = '', regarding = {}, reportingController, series, type = 'Normal' } = event
  const lastSeen = series?.lastObservedTime ?? event.deprecatedLastTimestamp ?? event.eventTime
  return {
    id: `${metadata.namespace}/${metadata.name}`,
    namespace: regarding.namespace ?? '',
    lastSeen: timeOf(lastSeen) ?? timeOf(metadata.creationTimestamp) ?? 0,
    type,
    reason,
    kind: regarding.kind ?? '',
    name: regarding.name ?? '',
    count: series?.count ?? event.deprecatedCount ?? 1,
    reporter: reportingController || (event.deprecatedSource?.component ?? ''),
    message: note,
  }
}

/** Whether an operator of Tenure reported it, or it is about an object that one of them manages. */
export function isAboutManaged(row: EventRow, managed: ReadonlySet<string>): boolean {
  return REPORTERS.has(row.reporter) || managed.has(keyOfObject(row))
}

export function matches(row: EventRow, { kind, name, since, type }: ManagedEventFilter): boolean {
  if (kind !== undefined && row.kind.toLowerCase() !== kind) return false
  if (name !== undefined && row.name !== name) return false
  if (type !== undefined && row.type !== type) return false
  return since === undefined || row.lastSeen >= since
}

export function byTime(a: EventRow, b: EventRow): number {
  return a.lastSeen - b.lastSeen || (a.id < b.id ? -1 : 1)
}

export function eventOutput(clock: Pick<Clock, 'now'>): RowOutput<EventRow> {
  return {
    columns: [
      { heading: 'LAST SEEN', of: ({ lastSeen }) => fromNow(lastSeen, clock.now()) },
      { heading: 'NAMESPACE', of: ({ namespace }) => namespace || '-' },
      { heading: 'TYPE', of: ({ type }) => type },
      { heading: 'REASON', of: ({ reason }) => reason },
      { heading: 'OBJECT', of: ({ kind, name }) => `${kind}/${name}` },
      { heading: 'COUNT', isWide: true, of: ({ count }) => String(count) },
      { heading: 'REPORTER', isWide: true, of: ({ reporter }) => reporter || '-' },
      { heading: 'MESSAGE', of: ({ message }) => message },
    ],
    nameOf: ({ id }) => `event.events.k8s.io/${id.slice(id.indexOf('/') + 1)}`,
  }
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : parseTime(text)
}
