import type { RequestHead, ResourceAccess, Route } from '@tenure/http'
import { HttpError, json, route } from '@tenure/http'
import { z } from 'zod'
import { Application, GROUP, VERSION } from '../api/index.ts'
import { pageOf } from './listing.ts'
import { applicationSchema, failure, inNamespace, listQuery, listSchema, named } from './schemas.ts'
import type { ListQuery } from './schemas.ts'
import type { ApplicationStore } from './store.ts'
import { visible } from './to-response.ts'

const ALL = `/apis/${GROUP}/${VERSION}/${Application.plural}`
const COLLECTION = `/apis/${GROUP}/${VERSION}/namespaces/:namespace/${Application.plural}`
const ONE = `${COLLECTION}/:name`

const DESCRIBED = { tags: ['applications'], indent: 2 }
const LIST_RESPONSES = {
  200: { description: 'Those selected', schema: listSchema },
  400: failure('A query that can not be read'),
}
const FOUND = { description: 'The Application', schema: applicationSchema }
const INVALID = failure('What was sent can not be an Application, and why')
const MISSING = failure('There is no such Application')

type Head = Pick<RequestHead, 'signal'>

/** Create, read, update, delete and list, at the paths that the API server has too. `newest` is a state that lists show. */
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
      items: items.map(visible),
    })
  }
  return [
    route({
      ...DESCRIBED,
      method: 'GET',
      path: ALL,
      summary: 'List the Applications of all namespaces',
      query: listQuery,
      access: may('list'),
      responses: LIST_RESPONSES,
      handle: (request) => list(undefined, request.query, request),
    }),
    route({
      ...DESCRIBED,
      method: 'GET',
      path: COLLECTION,
      summary: 'List the Applications of a namespace; one that does not exist has none',
      params: inNamespace,
      query: listQuery,
      access: ({ params }) => may('list', params),
      responses: LIST_RESPONSES,
      handle: (request) => list(request.params.namespace, request.query, request),
    }),
    route({
      ...DESCRIBED,
      method: 'GET',
      path: ONE,
      summary: 'Read an Application',
      params: named,
      access: ({ params }) => may('get', params),
      responses: { 200: FOUND, 404: MISSING },
      handle: async ({ params, signal }) => json(200, visible(await store.get(params, signal))),
    }),
    route({
      ...DESCRIBED,
      method: 'POST',
      path: COLLECTION,
      summary: 'Create an Application',
      params: inNamespace,
      body: applicationSchema,
      access: ({ params }) => may('create', params),
      responses: {
        201: FOUND,
        400: INVALID,
        404: failure('There is no such namespace'),
        409: failure('There is one of that name'),
      },
      handle: async (request) => {
        const created = await store.create(request.params.namespace, present(request.body), request)
        return json(201, visible(created))
      },
    }),
    route({
      ...DESCRIBED,
      method: 'PUT',
      path: ONE,
      summary: 'Replace an Application: the latest version if the body names it, else whatever is there',
      params: named,
      body: applicationSchema,
      access: ({ params }) => may('update', params),
      responses: {
        200: FOUND,
        400: INVALID,
        404: MISSING,
        409: failure('The version that the body names is not the latest'),
      },
      before: async ({ params, signal }) => {
        await store.find(params, signal)
        return undefined
      },
      handle: async ({ params, body, signal }) =>
        json(200, visible(await store.replace(params, present(body), signal))),
    }),
    route({
      ...DESCRIBED,
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an Application; it is gone when what it owned is cleaned up',
      params: named,
      indent: 0,
      access: ({ params }) => may('delete', params),
      responses: { 200: { description: 'It goes', schema: z.object({ status: z.literal('Success') }) }, 404: MISSING },
      handle: async ({ params, signal }) => {
        await store.remove(params, signal)
        return json(200, { status: 'Success' })
      },
    }),
  ]
}

function may(verb: string, params: { readonly namespace?: string; readonly name?: string } = {}): ResourceAccess {
  return { group: GROUP, resource: Application.plural, verb, ...params }
}

/** No body at all is no JSON either. */
function present(body: unknown): unknown {
  if (body === undefined) throw new HttpError('TENURE_HTTP_INVALID_JSON', 400, 'Invalid JSON')
  return body
}
