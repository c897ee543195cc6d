import type { Route } from '@tenure/http'
import { described, invalidRequest, json, route } from '@tenure/http'
import { z } from 'zod'
import { EVENT_TYPES, SEVERITIES } from '../events/entry.ts'
import type { Events } from './options.ts'
import { failure } from './schemas.ts'

const query = z.object({
  namespace: z.string().optional(),
  name: z.string().optional(),
  kind: z.string().optional(),
  type: z.enum(EVENT_TYPES).optional(),
  severity: z.enum(SEVERITIES).optional(),
  since: z.string().max(64).optional(),
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'Expected a whole number')
    .optional(),
})

const entry = described({
  type: 'object',
  required: [
    'id',
    'type',
    'severity',
    'reason',
    'message',
    'involvedObject',
    'source',
    'firstTimestamp',
    'lastTimestamp',
    'count',
  ],
  properties: {
    id: { type: 'string' },
    type: { enum: [...EVENT_TYPES] },
    severity: { enum: [...SEVERITIES] },
    reason: { type: 'string' },
    message: { type: 'string' },
    involvedObject: { type: 'object' },
    source: { type: 'object' },
    firstTimestamp: { type: 'string', format: 'date-time' },
    lastTimestamp: { type: 'string', format: 'date-time' },
    count: { type: 'integer' },
    metadata: { type: 'object' },
  },
})

/** `GET /events`: events of Applications, newest first. */
export function eventsRoute(events: Events): Route {
  return route({
    method: 'GET',
    path: '/events',
    summary: 'List events of Applications, newest first',
    tags: ['applications'],
    indent: 2,
    query,
    responses: {
      200: { description: 'Matching events', schema: z.object({ events: z.array(entry) }) },
      400: failure('Invalid query'),
    },
    handle: ({ query: { since, limit, ...filter } }) =>
      json(200, {
        events: events.list({
          ...filter,
          ...(since !== undefined && { since: timeOf(since) }),
          ...(limit !== undefined && { limit: Number(limit) }),
        }),
      }),
  })
}

/** RFC 3339, a date, or milliseconds since 1970. */
function timeOf(since: string): number {
  const time = /^\d{1,15}$/.test(since)
    ? Number(since)
    : /^\d{4}-\d\d-\d\d/.test(since)
      ? Date.parse(since)
      : Number.NaN
  if (!Number.isNaN(time)) return time
  throw invalidRequest([{ field: 'since', message: 'Expected a time such as 2026-01-31T12:00:00Z', value: since }])
}
