import type { Clock, Random } from '@tenure/kube'
import type { Metrics } from '@tenure/runtime'
import { z } from 'zod'
import { type Access, ANY_ACCOUNT } from '../auth/access.ts'
import { HttpError, notFound } from '../errors/http-error.ts'
import { type HttpResponse, json, type OpenStream } from '../routes/response.ts'
import { type Route, route } from '../routes/route.ts'
import { pageOf } from './row-list.ts'
import type { View } from './view.ts'
import { ViewFeed } from './view-feed.ts'
import { scopeOf, visibilityOf, type Visibility } from './visibility.ts'

const ROOT = '/api/v1'
const TAGS = ['views']
const DEFAULT_LIMIT = 500
const MAX_LIMIT = 50_000
const MAX_CHECKS = 100

export interface ViewRoutesOptions {
  readonly views: readonly View[]
  readonly operators: readonly string[]
  readonly version: string
  readonly authentication: 'token' | 'none'
  readonly clock: Clock
  readonly random: Random
  readonly metrics?: Metrics
}

export interface ViewRoutes {
  readonly routes: readonly Route[]
  stop(): void
}

/** Lists of all views, one stream with their changes, the caller's permissions, and the facts that a page needs first. */
export function viewRoutes(options: ViewRoutesOptions): ViewRoutes {
  const feed = new ViewFeed(options)
  const views = options.views.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    routes: [
      aboutRoute(options),
      ...views.map((view) => listRoute(view, feed)),
      streamRoute(views, feed),
      accessRoute(),
    ],
    stop: () => feed.stop(),
  }
}

function aboutRoute({ authentication, operators, version, views }: ViewRoutesOptions): Route {
  const schema = z.object({
    version: z.string(),
    operators: z.array(z.string()),
    views: z.array(z.object({ name: z.string(), title: z.string() })),
    authentication: z.enum(['token', 'none']),
  })
  return route({
    method: 'GET',
    path: `${ROOT}/about`,
    summary: 'The operators and views of this process, and whether callers need a token',
    tags: TAGS,
    access: 'public',
    responses: { 200: { description: 'About this process', schema } },
    handle: () => {
      const shown = views.map(({ name, title }) => ({ name, title }))
      return json(200, { version, operators, views: shown, authentication })
    },
  })
}

const listQuery = z.object({
  namespace: z.string().max(253).optional(),
  q: z.string().max(256).optional(),
  sort: z.string().max(64).optional(),
  order: z.enum(['asc', 'desc']).optional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, `Expected a whole number from 1 to ${MAX_LIMIT}`)
    .optional(),
  continue: z.string().max(4_096).optional(),
})

function listRoute(view: View, feed: ViewFeed): Route {
  const schema = z.object({
    items: z.array(view.schema),
    total: z.int(),
    remaining: z.int(),
    continue: z.string().optional(),
    cursor: z.string(),
  })
  return route({
    method: 'GET',
    path: `${ROOT}/views/${view.name}`,
    summary: `${view.title}: the rows that match, in pages`,
    description:
      '`q` is a part of any text of a row, `sort` a field. A row is shown if the caller may list its resource, in the ' +
      `namespace of the query or in all. \`cursor\` is the Last-Event-ID with which ${ROOT}/stream continues after this list.`,
    tags: TAGS,
    query: listQuery,
    access: ANY_ACCOUNT,
    responses: {
      200: { description: 'One page', schema },
      400: failure('The query is invalid'),
      403: failure('The caller may list none of these resources'),
    },
    handle: async (request) => {
      const { limit, namespace, ...rest } = request.query
      const visibility = await visibilityOf(request, view, namespace)
      // Read after the cursor and in the same turn, so that the stream misses nothing.
      const cursor = feed.cursor()
      const page = pageOf(visibleRows(view, visibility), {
        ...rest,
        limit: Math.min(Number(limit ?? DEFAULT_LIMIT), MAX_LIMIT),
      })
      return json(200, { ...page, cursor })
    },
  })
}

function* visibleRows(view: View, visibility: Visibility) {
  for (const row of view.rows()) if (visibility.sees(scopeOf(view, row))) yield row
}

const streamQuery = z.object({
  views: z.string().max(1_024).optional(),
  namespace: z.string().max(253).optional(),
  lastEventId: z.string().max(256).optional(),
})

function streamRoute(views: readonly View[], feed: ViewFeed): Route {
  return route({
    method: 'GET',
    path: `${ROOT}/stream`,
    summary: 'Changes of the rows of views, as server-sent events',
    description:
      'Each frame is `{"view","type":"set","row"}` or `{"view","type":"delete","id"}`. A row is sent as it is then, so a reader ' +
      'may miss versions between, and never the last. With `Last-Event-ID` the stream continues after a list or an earlier ' +
      'stream; 410 if these changes are not known any more, as after a restart: list again.',
    tags: TAGS,
    query: streamQuery,
    access: ANY_ACCOUNT,
    responses: {
      200: {
        description: 'Frames, until the client disconnects',
        schema: z.string(),
        contentType: 'text/event-stream',
      },
      403: failure('The caller may list none of the resources of a view'),
      404: failure('There is no such view'),
      410: failure('The changes after that event are no longer known'),
    },
    handle: async (request) => {
      const { headers, id, query, signal, user } = request
      const visibilities = new Map<string, Visibility>()
      for (const view of askedViews(views, query.views))
        visibilities.set(view.name, await visibilityOf(request, view, query.namespace))
      const lastEventId = headers['last-event-id'] ?? query.lastEventId
      let end: (() => void) | undefined
      const response = await feed.open({
        views: new Set(visibilities.keys()),
        // Callers with an account differ in what they see.
        key: user ? id : (query.namespace ?? ''),
        sees: (name, scope) => {
          const visibility = visibilities.get(name)
          // The reader comes back with its last id, and is then asked about the new resource too.
          if (visibility && !visibility.isDecided(scope)) end?.()
          return visibility?.sees(scope) ?? false
        },
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        signal,
      })
      return endable(response, (now) => (end = now))
    },
  })
}

/** A streamed response that can be ended from outside, once it is open. */
function endable(response: HttpResponse, onOpen: (end: () => void) => void): HttpResponse {
  const { body } = response
  if (body.type !== 'stream') return response
  const open: OpenStream = (sink) => {
    onOpen(() => sink.end())
    return body.open(sink)
  }
  return { ...response, body: { ...body, open } }
}

function askedViews(views: readonly View[], names: string | undefined): readonly View[] {
  if (names === undefined) return views
  return names.split(',').map((name) => {
    const view = views.find((each) => each.name === name)
    if (!view) throw notFound(`There is no view "${name}"; there are ${views.map((each) => each.name).join(', ')}`)
    return view
  })
}

const checkSchema = z.object({
  group: z.string().max(253),
  resource: z.string().max(253),
  verb: z.string().max(63),
  namespace: z.string().max(253).optional(),
  name: z.string().max(253).optional(),
})

function accessRoute(): Route {
  return route({
    method: 'POST',
    path: `${ROOT}/access`,
    summary: 'What the caller may do: one answer per check, in order',
    tags: TAGS,
    body: z.object({ checks: z.array(checkSchema).max(MAX_CHECKS) }),
    access: ANY_ACCOUNT,
    isWrite: false,
    responses: {
      200: {
        description: 'The name of the account, if there is one, and the answers',
        schema: z.object({ user: z.string().optional(), allowed: z.array(z.boolean()) }),
      },
      400: failure('The body is invalid'),
    },
    handle: async ({ authorize, body, user }) => {
      const allowed = await Promise.all(body.checks.map((check) => isAllowed(authorize, check)))
      return json(200, { ...(user && { user: user.name }), allowed })
    },
  })
}

async function isAllowed(authorize: (access: Access) => Promise<void>, access: Access): Promise<boolean> {
  try {
    await authorize(access)
    return true
  } catch (error) {
    if (error instanceof HttpError && error.status === 403) return false
    throw error
  }
}

const failure = (description: string) => ({
  description,
  schema: z.object({ error: z.string(), details: z.array(z.unknown()).optional() }),
})
