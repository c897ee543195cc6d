import type { RequestHead, ResourceAccess, Route } from '@tenure/http'
import { HttpError, json, route } from '@tenure/http'
import { z } from 'zod'
import { Application, GROUP, VERSION } from '../api/index.ts'
import { pageOf } from './listing.ts'
import { applicationSchema, failure, inNamespace, listQuery, listSchema, named } from './schemas.ts'
import type { ListQuery } from './schemas.ts'
import type { ApplicationStore } from './store.ts'
import { toResponse } from './to-response.ts'

const ALL = `/apis/${GROUP}/${VERSION}/${Application.plural}`
const COLLECTION = `/apis/${GROUP}/${VERSION}/namespaces/:namespace/${Application.plural}`
const ONE = `${COLLECTION}/:name`

const DESCRIBED = { tags: ['applications'], indent: 2 }
const LIST_RESPONSES = {
  200: { description: 'Selected Applications', schema: listSchema },
  400: failure('Invalid query'),
}
const FOUND = { description: 'The Application', schema: applicationSchema }
const INVALID = failure('The body is not a valid Application')
const MISSING = failure('The Application does not exist')

type Head = Pick<RequestHead, 'signal'>

/** CRUD routes at the paths of the API server. `newest`: the resourceVersion of lists. */
export function resourceRoutes(store: ApplicationStore, newest: () => string | undefined): readonly Route[] {
  const list = async (namespace: string | undefined, query: ListQuery, { signal }: Head) => {
    const objects = await store.list(namespace, signal)
    const { items, next, remaining } = pageOf(objects, query)
    return json(200, {
      apiVersion: Application.apiVersion,
      kind: 'ApplicationList',
      metadata: {
        resourceVersion: newest() ?? '0',
        ...(next !== undefined && { continue: next, remainingItemCount: remaining }),
      },
      items: items.map(toResponse),
    })
  }
  return [
    route({
      ...DESCRIBED,
      method: 'GET',
      path: ALL,
      summary: 'List the Applications of all namespaces',
      query: listQuery,
      access: access('list'),
      responses: LIST_RESPONSES,
      handle: (request) => list(undefined, request.query, request),
    }),
    route({
      ...DESCRIBED,
      method: 'GET',
      path: COLLECTION,
      summary: 'List the Applications of a namespace; empty if it does not exist',
      params: inNamespace,
      query: listQuery,
      access: ({ params }) => access('list', params),
      responses: LIST_RESPONSES,
      handle: (request) => list(request.params.namespace, request.query, request),
    }),
    route({
      ...DESCRIBED,
      method: 'GET',
      path: ONE,
      summary: 'Read an Application',
      params: named,
      access: ({ params }) => access('get', params),
      responses: { 200: FOUND, 404: MISSING },
      handle: async ({ params, signal }) => json(200, toResponse(await store.get(params, signal))),
    }),
    route({
      ...DESCRIBED,
      method: 'POST',
      path: COLLECTION,
      summary: 'Create an Application',
      params: inNamespace,
      body: applicationSchema,
      access: ({ params }) => access('create', params),
      responses: {
        201: FOUND,
        400: INVALID,
        404: failure('The namespace does not exist'),
        409: failure('An Application of that name exists'),
      },
      handle: async (request) => {
        const created = await store.create(request.params.namespace, present(request.body), request)
        request.audit({ name: created.metadata.name })
        return json(201, toResponse(created))
      },
    }),
    route({
      ...DESCRIBED,
      method: 'PUT',
      path: ONE,
      summary: 'Replace an Application; with a resourceVersion in the body, only if it is the latest',
      params: named,
      body: applicationSchema,
      access: ({ params }) => access('update', params),
      responses: {
        200: FOUND,
        400: INVALID,
        404: MISSING,
        409: failure('The resourceVersion of the body is not the latest'),
      },
      before: async ({ params, signal }) => {
        await store.find(params, signal)
        return undefined
      },
      handle: async ({ params, body, signal }) =>
        json(200, toResponse(await store.replace(params, present(body), signal))),
    }),
    route({
      ...DESCRIBED,
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an Application; it disappears after the cleanup of its children',
      params: named,
      indent: 0,
      access: ({ params }) => access('delete', params),
      responses: {
        200: { description: 'The deletion began', schema: z.object({ status: z.literal('Success') }) },
        404: MISSING,
      },
      handle: async ({ params, signal }) => {
        await store.remove(params, signal)
        return json(200, { status: 'Success' })
      },
    }),
  ]
}

function access(verb: string, params: { readonly namespace?: string; readonly name?: string } = {}): ResourceAccess {
  return { group: GROUP, resource: Application.plural, verb, ...params }
}

/** An empty body is not JSON. */
function present(body: unknown): unknown {
  if (body === undefined) throw new HttpError('TENURE_HTTP_INVALID_JSON', 400, 'Invalid JSON')
  return body
}
