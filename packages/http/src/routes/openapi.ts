import type { FastifyInstance } from 'fastify'
import swagger from '@fastify/swagger'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { json } from './response.ts'
import type { Route } from './route.ts'
import { route } from './route.ts'

export interface OpenApiInfo {
  readonly title: string
  readonly version: string
  readonly description?: string
}

/** Adds every route that is registered later to the document. */
export async function describeRoutes(app: FastifyInstance, info: OpenApiInfo, hasTokens: boolean): Promise<void> {
  const description = info.description ?? ''
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: info.title, version: info.version, description },
      ...(hasTokens && {
        components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
        security: [{ bearer: [] }],
      }),
    },
    transform: jsonSchemaTransform,
  })
}

/** `GET /openapi.json`. The document is made with the first request. */
export function openApiRoute(documentOf: () => unknown): Route {
  let document: unknown
  return route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document: every route, as OpenAPI 3.1',
    tags: ['meta'],
    access: 'public',
    responses: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
    handle: () => json(200, (document ??= documentOf())),
  })
}

/** The schema of a route for @fastify/swagger. */
export function schemaOf(route: Route): Record<string, unknown> {
  const { summary, description, tags, params, query, body, responses } = route
  return {
    summary,
    operationId: operationIdOf(route),
    ...(description !== undefined && { description }),
    ...(tags && { tags }),
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    response: Object.fromEntries(
      Object.entries(responses).map(([status, { description, schema = z.unknown(), contentType }]) => [
        status,
        { description, content: { [contentType ?? 'application/json']: { schema } } },
      ]),
    ),
  }
}

/** A schema that describes a body without validating it, for bodies that are validated elsewhere. */
export function described(schema: object): z.ZodType {
  return z.unknown().meta({ ...schema })
}

/** `getApisExampleDevV1NamespacesNamespaceWebsitesName`. */
function operationIdOf({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}
