import { hostname } from 'node:os'
import type { Clock, KubeObject, Random } from '@tenure/kube'
import { Event } from '@tenure/kube/kinds'
import { EventRecorder } from '@tenure/runtime'
import type { Component, ComponentDefinition, EventContent, Informer, OperatorContext, Recorder } from '@tenure/runtime'
import { Application, GROUP, OPERATOR } from '../api/index.ts'
import type { EventEntry, EventFilter, EventRecord } from './entry.ts'
import { severityOf, typeFrom } from './entry.ts'
import { EventStore, type RemoteEvent } from './store.ts'
import type { ApplicationMetrics } from '../metrics.ts'

export {
  EVENT_TYPES,
  SEVERITIES,
  type EventEntry,
  type EventFilter,
  type EventRecord,
  type EventType,
  type InvolvedObject,
  type Severity,
} from './entry.ts'

const DEFAULT_LIMIT = 10_000
const DEFAULT_WINDOW_MS = 60_000
/** Time that events get to be written when the manager stops. */
const MAX_RECORDER_GRACE_MS = 5_000

export type EventHistoryContext = Pick<OperatorContext, 'api' | 'clock' | 'informers' | 'log' | 'metrics' | 'random'>

export interface EventHistoryOptions {
  /** Maximum number of entries in memory; the oldest are dropped first. Default 10,000. */
  readonly limit?: number | undefined
  /** Milliseconds within which a repeated event increases the count. Default 60,000. */
  readonly window?: number | undefined
  /** Name of this process in events. Default: the host name. */
  readonly identity?: string | undefined
  /** Watch and show events of other processes too. Default true. */
  readonly watchRemote?: boolean | undefined
  /** Namespace to watch. Default: all namespaces. */
  readonly namespace?: string | undefined
  /** Counts events. Default: events are not counted. */
  readonly metrics?: ApplicationMetrics | undefined
}

/**
 * Event history of Applications. Events of this process are shown at once, aggregated, and written as Kubernetes events;
 * events of other replicas, and of this one before a restart, come from a watch. Recording never fails and never waits.
 */
export class EventHistory {
  /** Writes and watches Kubernetes events while the manager runs. */
  readonly component: ComponentDefinition
  readonly #clock: Clock
  readonly #random: Random
  /** Unique to this process, so that the watch can skip the events that it wrote itself. */
  readonly #instance: string
  readonly #store: EventStore
  readonly #recorder: EventRecorder
  readonly #metrics: ApplicationMetrics | undefined

  constructor(context: EventHistoryContext, options: EventHistoryOptions = {}) {
    const { clock, informers, random } = context
    const { limit = DEFAULT_LIMIT, window = DEFAULT_WINDOW_MS, watchRemote = true, metrics, namespace } = options
    const host = (options.identity ?? hostname()).slice(0, 100)
    this.#clock = clock
    this.#random = random
    this.#metrics = metrics
    this.#instance = `${host}_${hex(random, 4)}`
    this.#store = new EventStore({ limit, window, source: { component: OPERATOR, host } })
    this.#recorder = new EventRecorder({ ...context, controller: OPERATOR, instance: this.#instance })
    const selection = { namespace, fieldSelector: `reportingController=${OPERATOR}` }
    const events = watchRemote ? informers.informer(Event, selection) : undefined
    this.component = { stage: 'serve', create: () => this.#component(events) }
  }

  /** Recorder for controllers: writes to the history and to Kubernetes. */
  readonly recorder: Recorder = {
    record: (object, event) => {
      const { type, reason, message, count } = event
      const { name, namespace, uid } = object.metadata
      const involvedObject = { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid }
      this.#remember({ type: typeFrom(type, reason), reason, message, involvedObject, count })
      this.#recorder.record(object, event)
    },
  }

  /** Records an event. Returns at once and never throws. */
  record(record: EventRecord): void {
    this.#remember(record)
    const { apiVersion, kind, namespace, name, uid } = record.involvedObject
    // A Kubernetes event needs the name of its object.
    if (name === '') return
    const object: KubeObject = {
      ...(apiVersion !== undefined && { apiVersion }),
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) },
    }
    this.#recorder.record(object, contentOf(record))
  }

  /** Newest first. */
  list(filter: EventFilter = {}): readonly EventEntry[] {
    return this.#store.list(filter)
  }

  #component(events: Informer<Event> | undefined): Component {
    let unsubscribe: (() => void) | undefined
    return {
      name: 'event history',
      start: () => {
        unsubscribe = events?.subscribe((change) => {
          // Kubernetes deletes events after an hour; the history keeps them.
          if (change.type !== 'deleted') this.#merge(change.object)
        })
        return Promise.resolve()
      },
      stop: async (grace) => {
        unsubscribe?.()
        await this.#recorder.close(Math.min(grace, MAX_RECORDER_GRACE_MS))
      },
    }
  }

  #remember(record: EventRecord): void {
    const moment = { now: this.#clock.now(), monotonic: this.#clock.monotonic() }
    this.#store.record(record, moment, () => uuid(this.#random))
    this.#metrics?.recorded(record.type, severityOf(record), record.count ?? 1)
  }

  #merge(event: Event): void {
    const remote = event.reportingInstance === this.#instance ? undefined : remoteEvent(event)
    if (remote) this.#store.merge(remote)
  }
}

/** Kubernetes has no Error type: it becomes a Warning. */
function contentOf({ type, reason, message, count = 1 }: EventRecord): EventContent {
  return { type: type === 'Normal' ? 'Normal' : 'Warning', reason, message, count }
}

/** Reads an event of another process; undefined if it is not about an Application or not complete. */
function remoteEvent(event: Event): RemoteEvent | undefined {
  const { metadata, reason, regarding, series } = event
  const id = metadata?.uid
  const first = Date.parse(event.eventTime)
  if (id === undefined || !reason || !regarding?.name || !isAboutApplication(regarding) || Number.isNaN(first)) {
    return undefined
  }
  const last = Date.parse(series?.lastObservedTime ?? event.eventTime)
  const { apiVersion, namespace, name, uid } = regarding
  return {
    id,
    type: typeFrom(event.type, reason),
    reason,
    message: event.note ?? '',
    involvedObject: { apiVersion, kind: Application.kind, namespace, name, uid },
    source: { component: OPERATOR, host: event.reportingInstance?.replace(/_[0-9a-f]{8}$/, '') },
    first,
    last: Number.isNaN(last) ? first : last,
    count: series?.count ?? 1,
  }
}

/** Of any version. The reporter alone does not tell: the operator also reports about its own objects. */
function isAboutApplication({ apiVersion = '', kind }: NonNullable<Event['regarding']>): boolean {
  return kind === Application.kind && apiVersion.startsWith(`${GROUP}/`)
}

function uuid(random: Random): string {
  return hex(random, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function hex(random: Random, bytes: number): string {
  return Buffer.from(random.bytes(bytes)).toString('hex')
}
