import type { Route, SseEvent } from '@tenure/http'
import { invalidRequest, route, SseHub } from '@tenure/http'
import { compareResourceVersions, isGone, keyOf, withTimeout } from '@tenure/kube'
import type { LabelMatcher, Stored, WatchEvent } from '@tenure/kube'
import type { InformerEvent, OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import { Application, GROUP } from '../api/index.ts'
import { labelsOf } from './listing.ts'
import { failure } from './schemas.ts'
import type { ApplicationStore } from './store.ts'
import { toResponse } from './to-response.ts'
import { isWatchId, versionOfId, WatchIds } from './watch-ids.ts'
import { publishInOrder } from './watch-order.ts'

/** A change, for filters. */
interface ObjectChange {
  readonly object: Stored<Application>
  readonly old: Stored<Application> | undefined
}

/** Length of the watch that reads history, in seconds; the API server sends past events at once. */
const HISTORY_SECONDS = 1
const HISTORY_TIMEOUT_MS = 5_000
const MAX_HISTORY_EVENTS = 10_000

const watchQuery = z.object({
  namespace: z.string().optional(),
  kind: z.string().optional(),
  labelSelector: z.string().max(4_096).optional(),
})

export interface WatchRoute {
  readonly route: Route
  /**
   * resourceVersion from which a client may watch after a list: that of the latest event, or of the informer's watch.
   * Undefined before the first list. A list includes every change up to it.
   */
  newest(): string | undefined
}

/** `GET /watch`: every change of an Application, as server-sent events. */
export function watchRoute(
  context: OperatorContext,
  store: ApplicationStore,
  namespace: string | undefined,
): WatchRoute {
  const { clock, metrics } = context
  const hub = new SseHub<ObjectChange>({
    clock,
    metrics,
    name: 'watch',
    history: (id, signal) => historyAfter(context, namespace, versionOfId(id), signal),
  })
  const ids = new WatchIds()
  publishInOrder(store.informer, (event) => {
    hub.publish(toSseEvent(event, ids.next(event.object.metadata.resourceVersion)))
  })
  return {
    newest: () => ids.latest ?? store.informer.lastSyncResourceVersion,
    route: route({
      method: 'GET',
      path: '/watch',
      summary: 'Stream changes of Applications from now on, or after Last-Event-ID, as server-sent events',
      description:
        'Each frame is `data: {"type":"ADDED|MODIFIED|DELETED","object":{…}}` with the resourceVersion as its id, ' +
        'and a number after it where that would repeat an id. A ' +
        'client that reconnects with `Last-Event-ID` (or `?lastEventId=`) gets the changes since then; if they are no ' +
        'longer available the answer is 410, and the client has to list and watch again. A client that reads too slowly ' +
        'is disconnected. With a labelSelector, a change is sent if the object matches before or after it.',
      tags: ['applications'],
      query: watchQuery.extend({ lastEventId: z.string().optional() }),
      access: ({ query }) => ({
        group: GROUP,
        resource: Application.plural,
        verb: 'watch',
        namespace: query.namespace,
      }),
      responses: {
        200: {
          description: 'Frames, until the client disconnects',
          schema: z.string(),
          contentType: 'text/event-stream',
        },
        400: failure('Invalid query'),
        410: failure('The changes after that event are no longer available'),
      },
      handle: ({ query, headers, signal }) =>
        hub.open({
          filter: filterOf(query),
          lastEventId: eventId(headers['last-event-id'] ?? query.lastEventId),
          signal,
        }),
    }),
  }
}

function filterOf({ namespace, kind, labelSelector = '' }: z.output<typeof watchQuery>) {
  const labels = labelsOf(labelSelector)
  const key = JSON.stringify([namespace, kind, labels.toString()])
  return { key, matches: ({ object, old }: ObjectChange) => matches(object, old, { namespace, kind, labels }) }
}

interface WatchFilter {
  readonly namespace: string | undefined
  readonly kind: string | undefined
  readonly labels: LabelMatcher
}

function matches(object: Stored<Application>, old: Stored<Application> | undefined, filter: WatchFilter): boolean {
  const { namespace, kind, labels } = filter
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false
  if (kind !== undefined && kind !== Application.kind) return false
  return labels.matches(object.metadata.labels) || (old !== undefined && labels.matches(old.metadata.labels))
}

const TYPES = { added: 'ADDED', modified: 'MODIFIED', deleted: 'DELETED' } as const

function toSseEvent(event: InformerEvent<Application>, id: string): SseEvent<ObjectChange> {
  const old = event.type === 'modified' ? event.old : undefined
  return frame(TYPES[event.type], event.object, old, id)
}

function frame(
  type: string,
  object: Stored<Application>,
  old: Stored<Application> | undefined,
  id: string = object.metadata.resourceVersion,
): SseEvent<ObjectChange> {
  return { id, data: { type, object: toResponse(object) }, about: { object, old } }
}

function eventId(value: string | readonly string[] | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && isWatchId(value)) return value
  throw invalidRequest([{ field: 'Last-Event-ID', message: 'Expected the id of an event or a resourceVersion' }])
}

/** Events after `id` from the API server, whose history outlives this process. Undefined if they are gone. */
async function historyAfter(
  { api, clock }: OperatorContext,
  namespace: string | undefined,
  id: string,
  signal: AbortSignal,
): Promise<readonly SseEvent<ObjectChange>[] | undefined> {
  const events: SseEvent<ObjectChange>[] = []
  const latest = new Map<string, Stored<Application>>()
  const limit = withTimeout(
    clock,
    HISTORY_TIMEOUT_MS,
    () => new Error('The API server took too long to send the history'),
    signal,
  )
  const options = { resourceVersion: id, namespace, timeoutSeconds: HISTORY_SECONDS, signal: limit.signal }
  try {
    const { metadata } = await api.list(Application, { namespace, limit: 1, signal: limit.signal })
    // A version of the future comes from an earlier store. Some servers would wait for it.
    if (compareResourceVersions(id, metadata.resourceVersion) > 0) return undefined
    for await (const batch of api.watch(Application, options)) {
      for (const event of batch) collect(event, events, latest)
      if (events.length > MAX_HISTORY_EVENTS) return undefined
    }
    return events
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  } finally {
    limit.dispose()
  }
}

function collect(
  event: WatchEvent<Application>,
  events: SseEvent<ObjectChange>[],
  latest: Map<string, Stored<Application>>,
): void {
  if (event.type === 'BOOKMARK') return
  const { object, type } = event
  const key = keyOf(object.metadata)
  events.push(frame(type, object, latest.get(key)))
  latest.set(key, object)
}
