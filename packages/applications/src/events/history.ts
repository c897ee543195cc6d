import { hostname } from 'node:os'
import type { Clock, KubeObject, Random } from '@tenure/kube'
import { systemClock, systemRandom } from '@tenure/kube'
import { Event } from '@tenure/kube/kinds'
import { EventRecorder } from '@tenure/runtime'
import type { ComponentDefinition, EventContent, Recorder } from '@tenure/runtime'
import { OPERATOR } from '../api/index.ts'
import type { EventEntry, EventFilter, EventRecord } from './entry.ts'
import { severityOf, typeFrom } from './entry.ts'
import { EventStore, type ForeignEvent } from './store.ts'
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

export interface EventHistoryOptions {
  /** Entries kept in memory; the oldest go. Default 10,000. */
  readonly limit?: number | undefined
  /** Milliseconds within which the same event counts up. Default 60,000. */
  readonly window?: number | undefined
  /** Which of the operator's processes this is, for people. Default: the host's name. */
  readonly identity?: string | undefined
  /** Whether events of the other processes are watched and shown too. Default true. */
  readonly learn?: boolean | undefined
  /** Where they are watched. Default: in all namespaces. */
  readonly namespace?: string | undefined
  /** Where events are counted. Default: nowhere. */
  readonly metrics?: ApplicationMetrics | undefined
  /** Default: the manager's. */
  readonly clock?: Clock | undefined
  /** Default: the machine's. */
  readonly random?: Random | undefined
}

/**
 * What happened to Applications, newest first. What this process records is shown at once, counted up when it repeats,
 * and written as a Kubernetes event; what other replicas, or this one before it was restarted, have written is
 * learned by watching those. Recording never fails and never waits.
 */
export class EventHistory {
  readonly #options: EventHistoryOptions
  #clock: Clock
  readonly #random: Random
  readonly #identity: string
  /** Unlike that of any other process: told by it, our own events are not taken for another's. */
  readonly #instance: string
  readonly #store: EventStore
  #recorder: EventRecorder | undefined

  constructor(options: EventHistoryOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
    this.#identity = (options.identity ?? hostname()).slice(0, 100)
    this.#instance = `${this.#identity}_${hex(this.#random, 4)}`
    this.#store = new EventStore({
      limit: options.limit ?? 10_000,
      window: options.window ?? 60_000,
      source: { component: OPERATOR, host: this.#identity },
    })
  }

  /** For controllers: what they record goes into the history and to Kubernetes. */
  readonly recorder: Recorder = {
    record: (object, event) => {
      const { type, reason, message } = event
      const { name, namespace, uid } = object.metadata
      const involvedObject = { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid }
      this.#remember({ type: typeFrom(type, reason), reason, message, involvedObject })
      this.#recorder?.record(object, event)
    },
  }

  /** Writes what is recorded to Kubernetes, and learns from there, as long as the manager runs. */
  readonly component: ComponentDefinition = {
    stage: 'serve',
    create: (context) => {
      this.#clock = this.#options.clock ?? context.clock
      const recorder = new EventRecorder({ ...context, controller: OPERATOR, instance: this.#instance })
      const { learn = true, namespace } = this.#options
      const ours = { namespace, fieldSelector: `reportingController=${OPERATOR}` }
      const events = learn ? context.informers.informer(Event, ours) : undefined
      let stopLearning: (() => void) | undefined
      return {
        name: 'event history',
        start: () => {
          this.#recorder = recorder
          stopLearning = events?.subscribe((change) => {
            // That Kubernetes forgets an event after an hour does not make it undone.
            if (change.type !== 'deleted') this.#learn(change.object)
          })
          return Promise.resolve()
        },
        stop: async (grace) => {
          stopLearning?.()
          this.#recorder = undefined
          await recorder.close(Math.min(grace, 5_000))
        },
      }
    },
  }

  /** Notes that something happened. Returns at once and never throws. */
  record(record: EventRecord): void {
    this.#remember(record)
    const { apiVersion, kind, namespace, name, uid } = record.involvedObject
    // There is no Kubernetes event about something that has no name.
    if (name === '') return
    const object: KubeObject = {
      ...(apiVersion !== undefined && { apiVersion }),
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) },
    }
    this.#recorder?.record(object, contentOf(record))
  }

  /** Newest first. */
  list(filter: EventFilter = {}): readonly EventEntry[] {
    return this.#store.list(filter)
  }

  #remember(record: EventRecord): void {
    const moment = { now: this.#clock.now(), monotonic: this.#clock.monotonic() }
    this.#store.record(record, moment, () => uuid(this.#random))
    this.#options.metrics?.recorded(record.type, severityOf(record))
  }

  #learn(event: Event): void {
    const learned = event.reportingInstance === this.#instance ? undefined : foreignEvent(event)
    if (learned) this.#store.learn(learned)
  }
}

/** Kubernetes has two types. What is an error to us is a warning to it. */
function contentOf({ type, reason, message }: EventRecord): EventContent {
  return { type: type === 'Normal' ? 'Normal' : 'Warning', reason, message }
}

/** An event that another of our processes wrote; undefined if it is not one that we would write. */
function foreignEvent(event: Event): ForeignEvent | undefined {
  const { metadata, reason, regarding, series } = event
  const id = metadata?.uid
  const first = Date.parse(event.eventTime)
  if (id === undefined || !reason || !regarding?.kind || !regarding.name || Number.isNaN(first)) return undefined
  const last = Date.parse(series?.lastObservedTime ?? event.eventTime)
  const { apiVersion, kind, namespace, name, uid } = regarding
  return {
    id,
    type: typeFrom(event.type, reason),
    reason,
    message: event.note ?? '',
    involvedObject: { apiVersion, kind, namespace, name, uid },
    source: { component: OPERATOR, host: event.reportingInstance?.replace(/_[0-9a-f]{8}$/, '') },
    first,
    last: Number.isNaN(last) ? first : last,
    count: series?.count ?? 1,
  }
}

function uuid(random: Random): string {
  return hex(random, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function hex(random: Random, bytes: number): string {
  return Buffer.from(random.bytes(bytes)).toString('hex')
}
