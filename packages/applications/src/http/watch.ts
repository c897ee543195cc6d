import type { Route, SseEvent } from '@tenure/http'
import { invalidRequest, route, SseHub } from '@tenure/http'
import { compareResourceVersions, isGone, keyOf, withTimeout } from '@tenure/kube'
import type { LabelMatcher, Stored, WatchEvent } from '@tenure/kube'
import type { InformerEvent, ManagerContext } from '@tenure/runtime'
import { z } from 'zod'
import { Application, GROUP } from '../api/index.ts'
import { labelsOf } from './listing.ts'
import { failure } from './schemas.ts'
import type { ApplicationStore } from './store.ts'
import { visible } from './to-response.ts'
import { inOrder } from './watch-order.ts'

/** What filters judge: the object, and what it was before. */
interface About {
  readonly object: Stored<Application>
  readonly old: Stored<Application> | undefined
}

/** How long the API server is asked for the past, in seconds: what it has, it sends at once. */
const HISTORY_SECONDS = 1
const HISTORY_TIMEOUT = 5_000
const MOST_HISTORY = 10_000

const watchQuery = z.object({
  namespace: z.string().optional(),
  kind: z.string().optional(),
  labelSelector: z.string().max(4_096).optional(),
})

export interface WatchRoute {
  readonly route: Route
  /**
   * Where a reader may go on after a list: at the latest event, or where the watch is; undefined before the first list.
   * What a list shows includes all up to there.
   */
  newest(): string | undefined
}

/** `GET /watch`: every change of an Application, as server-sent events, to any number of readers. */
export function watchRoute(
  context: ManagerContext,
  store: ApplicationStore,
  namespace: string | undefined,
): WatchRoute {
  const { clock, metrics } = context
  const hub = new SseHub<About>({
    clock,
    metrics,
    name: 'watch',
    history: (id, signal) => remembered(context, namespace, id, signal),
  })
  inOrder(store.informer, (event) => hub.publish(sent(event)))
  return {
    newest: () => hub.lastId ?? store.informer.lastSyncResourceVersion,
    route: route({
      method: 'GET',
      path: '/watch',
      summary: 'Changes of Applications from now on, or after Last-Event-ID, as server-sent events',
      description:
        'Each frame is `data: {"type":"ADDED|MODIFIED|DELETED","object":{…}}` with the resourceVersion as its id. A ' +
        'reader that comes back with `Last-Event-ID` (or `?lastEventId=`) gets what it has missed; if that is no longer ' +
        'known the answer is 410, and the reader lists the Applications and begins anew. A reader that does not read is ' +
        'cut off. With a labelSelector, a change is sent if the object is selected before it or after it.',
      tags: ['applications'],
      query: watchQuery.extend({ lastEventId: z.string().optional() }),
      access: ({ query }) => ({
        group: GROUP,
        resource: Application.plural,
        verb: 'watch',
        namespace: query.namespace,
      }),
      responses: {
        200: { description: 'Frames, until the reader leaves', schema: z.string(), contentType: 'text/event-stream' },
        400: failure('A query that can not be read'),
        410: failure('What came after that event is no longer known'),
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
  return { key, matches: ({ object, old }: About) => fits(object, old, { namespace, kind, labels }) }
}

interface Wanted {
  readonly namespace: string | undefined
  readonly kind: string | undefined
  readonly labels: LabelMatcher
}

function fits(object: Stored<Application>, old: Stored<Application> | undefined, wanted: Wanted): boolean {
  const { namespace, kind, labels } = wanted
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false
  if (kind !== undefined && kind !== Application.kind) return false
  return labels.matches(object.metadata.labels) || (old !== undefined && labels.matches(old.metadata.labels))
}

const TYPES = { added: 'ADDED', modified: 'MODIFIED', deleted: 'DELETED' } as const

function sent(event: InformerEvent<Application>): SseEvent<About> {
  const old = event.type === 'modified' ? event.old : undefined
  return frame(TYPES[event.type], event.object, old)
}

function frame(type: string, object: Stored<Application>, old: Stored<Application> | undefined): SseEvent<About> {
  return { id: object.metadata.resourceVersion, data: { type, object: visible(object) }, about: { object, old } }
}

function eventId(value: string | readonly string[] | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && /^\d{1,30}$/.test(value)) return value
  throw invalidRequest([{ field: 'Last-Event-ID', message: 'Expected the id of an event, which is a whole number' }])
}

/** What the API server remembers after `id`: it does longer than we, and across our restarts. Undefined if it does not. */
async function remembered(
  { api, clock }: ManagerContext,
  namespace: string | undefined,
  id: string,
  signal: AbortSignal,
): Promise<readonly SseEvent<About>[] | undefined> {
  const events: SseEvent<About>[] = []
  const latest = new Map<string, Stored<Application>>()
  const limit = withTimeout(clock, HISTORY_TIMEOUT, () => new Error('the API server takes too long'), signal)
  const options = { resourceVersion: id, namespace, timeoutSeconds: HISTORY_SECONDS, signal: limit.signal }
  try {
    const { metadata } = await api.list(Application, { namespace, limit: 1, signal: limit.signal })
    // Of a time that the server has not seen: from a store that is no more. Some servers would wait for that time.
    if (compareResourceVersions(id, metadata.resourceVersion) > 0) return undefined
    for await (const batch of api.watch(Application, options)) {
      for (const event of batch) note(event, events, latest)
      if (events.length > MOST_HISTORY) return undefined
    }
    return events
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  } finally {
    limit.dispose()
  }
}

function note(
  event: WatchEvent<Application>,
  events: SseEvent<About>[],
  latest: Map<string, Stored<Application>>,
): void {
  if (event.type === 'BOOKMARK') return
  const { object, type } = event
  const key = keyOf(object.metadata)
  events.push(frame(type, object, latest.get(key)))
  latest.set(key, object)
}
