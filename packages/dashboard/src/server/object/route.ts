import { ANY_ACCOUNT, json, type Route, route } from '@tenure/http'
import { asJsonObject, type JsonObject } from '@tenure/kube/model'
import { writeYaml, type YamlValue } from '@tenure/yaml'
import { z } from 'zod'
import type { Found } from './node.ts'
import { eventsOf, type ObjectContext, ownedBy, ownersOf, readObject } from './read-object.ts'
import { whyNotReady } from './why.ts'

const HIDDEN = '***'

const node = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  uid: z.string(),
  ready: z.boolean().optional(),
  message: z.string().optional(),
  get children() {
    return z.array(node).optional()
  },
})

const answer = z.object({
  object: z.record(z.string(), z.unknown()),
  yaml: z.string(),
  owners: z.array(node),
  children: z.array(node),
  events: z.array(
    z.object({
      type: z.string(),
      reason: z.string(),
      message: z.string(),
      count: z.number(),
      lastTimestamp: z.string(),
      source: z.string(),
    }),
  ),
  why: z.string().optional(),
})

/** `GET /api/v1/object`: one object with its owners, what it owns, its events, and why it is not ready. */
export function objectRoute(context: ObjectContext): Route {
  return route({
    method: 'GET',
    path: '/api/v1/object',
    summary: 'One object with its owners, what it owns, its events, and why it is not ready',
    description:
      'Each part is read with the permissions of the caller; a part that the caller may not see is left out. The data of a ' +
      'Secret is hidden.',
    tags: ['views'],
    query: z.object({
      apiVersion: z.string().min(1).max(253),
      kind: z.string().min(1).max(63),
      namespace: z.string().max(63).optional(),
      name: z.string().min(1).max(253),
    }),
    access: ANY_ACCOUNT,
    responses: {
      200: { description: 'The object', schema: answer },
      403: { description: 'The caller may not get the object', schema: z.object({ error: z.string() }) },
      404: { description: 'There is no such object or kind', schema: z.object({ error: z.string() }) },
    },
    handle: async ({ authorize, query }) => {
      const object = await readObject(context, query, authorize)
      const [owners, children, events] = await Promise.all([
        ownersOf(context, object, authorize),
        ownedBy(context, object, authorize),
        eventsOf(context, object, authorize),
      ])
      const shown = shownObject(object)
      const why = whyNotReady(object, children)
      const yaml = writeYaml(shown as YamlValue)
      return json(200, { object: shown, yaml, owners, children, events, ...(why !== undefined && { why }) })
    },
  })
}

/** Without managedFields, and without the values of a Secret. */
function shownObject(object: Found): JsonObject {
  const { apiVersion, kind, metadata, ...rest } = object
  const { managedFields: _, ...shownMetadata } = metadata ?? {}
  const shown = asJsonObject({ apiVersion, kind, metadata: hiddenAnnotations(kind, shownMetadata), ...rest })
  if (apiVersion !== 'v1' || kind !== 'Secret') return shown
  return { ...shown, ...hiddenIn(shown, 'data'), ...hiddenIn(shown, 'stringData') }
}

function hiddenIn(object: JsonObject, field: string): JsonObject {
  if (object[field] === undefined) return {}
  return { [field]: Object.fromEntries(Object.keys(asJsonObject(object[field])).map((key) => [key, HIDDEN])) }
}

/** kubectl's copy of an applied Secret has its values too. */
function hiddenAnnotations<M extends { readonly annotations?: Readonly<Record<string, string>> }>(
  kind: string,
  metadata: M,
): M {
  const name = 'kubectl.kubernetes.io/last-applied-configuration'
  if (kind !== 'Secret' || metadata.annotations?.[name] === undefined) return metadata
  return { ...metadata, annotations: { ...metadata.annotations, [name]: HIDDEN } }
}
