import type { Logger } from '@tenure/runtime'
import type { z } from 'zod'
import type { Access, AuthenticatedUser } from '../auth/access.ts'
import type { AuditedObject } from '../server/audit.ts'
import type { HttpResponse } from './response.ts'
import type { HttpError } from '../errors/http-error.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request before its body is read. */
export interface RequestHead<P = unknown, Q = unknown> {
  /** Unique within this server, for logs. */
  readonly id: string
  readonly method: string
  /** The original path and query. */
  readonly url: string
  /** The validated path parameters. */
  readonly params: P
  /** The validated query. */
  readonly query: Q
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Undefined without authentication. */
  readonly user: AuthenticatedUser | undefined
  /** The address of the connection's other end: the caller, or a proxy. */
  readonly remoteAddress: string
  /** Aborts when the caller disconnects, when the route takes too long, and when the server closes the connection. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Names the object for the audit log. Default: that of the last access that the route asked for. */
  audit(object: AuditedObject): void
  /** Rejects with a 403 unless the caller also has this access. Without authentication it always resolves. */
  authorize(access: Access): Promise<void>
}

export interface HttpRequest<P = unknown, Q = unknown, B = unknown> extends RequestHead<P, Q> {
  /** Parsed and validated JSON, or bytes for a route with `rawBody`; undefined without a body. */
  readonly body: B
}

/** A response in the OpenAPI document. Responses are not validated against it. */
export interface ResponseDescription {
  readonly description: string
  /** Default: no body is described. */
  readonly schema?: z.ZodType
  /** Default `application/json`. */
  readonly contentType?: string
}

interface Described {
  readonly method: Method
  /** `/apis/example.dev/v1/namespaces/:namespace/websites/:name`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** Groups routes in the OpenAPI document. Default none. */
  readonly tags?: readonly string[]
  readonly responses: Readonly<Record<number, ResponseDescription>>
  /** Spaces per level of JSON responses; errors are never indented. Default none. */
  readonly indent?: number
  /** The handler gets the body as bytes (`Uint8Array`), whatever its content type is. Default false: JSON only. */
  readonly rawBody?: boolean
  /** Maximum body size in bytes. Default: that of the server. */
  readonly bodyLimit?: number
  /** Maximum nesting depth of JSON. Default: that of the server. */
  readonly maxDepth?: number
  /** Milliseconds after which a route without a response gets a 504. Default: that of the server. */
  readonly timeout?: number
  /** Whether requests change something and are recorded in the audit log. Default: unless the method is GET. */
  readonly isWrite?: boolean
}

export interface RouteDefinition<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> extends Described {
  /** Schema of the path parameters. Default: not validated. */
  readonly params?: P
  /** Schema of the query. Values are strings, or lists of strings for repeated names, without conversion. Default: not validated. */
  readonly query?: Q
  /** Schema of the JSON body. Default: not validated. */
  readonly body?: B
  /** The access that callers need. Default: the method, in lower case, on the path. */
  readonly access?: Access | ((request: RequestHead<z.output<P>, z.output<Q>>) => Access)
  /** Called before the body is read; a response ends the request. Default: none. */
  readonly before?: (
    request: RequestHead<z.output<P>, z.output<Q>>,
  ) => HttpResponse | undefined | Promise<HttpResponse | undefined>
  readonly handle: (request: HttpRequest<z.output<P>, z.output<Q>, z.output<B>>) => HttpResponse | Promise<HttpResponse>
  /** Shapes the response to a failure, also of the server. Default, and for undefined: `{"error", "details"?}`. */
  readonly shapeFailure?: (failure: HttpError) => HttpResponse | undefined
}

/** A route without the types of its request. Made by `route`. */
export interface Route extends Described {
  readonly params: z.ZodType | undefined
  readonly query: z.ZodType | undefined
  readonly body: z.ZodType | undefined
  accessOf(request: RequestHead): Access
  before(request: RequestHead): Promise<HttpResponse | undefined>
  handle(request: HttpRequest): Promise<HttpResponse>
  shapeFailure(failure: HttpError): HttpResponse | undefined
}

/** Declares a route. Its handler gets validated values. */
export function route<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  definition: RouteDefinition<P, Q, B>,
): Route {
  const { access, before, handle, shapeFailure, params, query, body, ...described } = definition
  // The server passes only validated values, so these casts are safe.
  type Head = RequestHead<z.output<P>, z.output<Q>>
  type Whole = HttpRequest<z.output<P>, z.output<Q>, z.output<B>>
  const ownPath: Access = { path: definition.path, verb: definition.method.toLowerCase() }
  return {
    ...described,
    params,
    query,
    body,
    accessOf: (request) => (typeof access === 'function' ? access(request as Head) : (access ?? ownPath)),
    before: async (request) => before?.(request as Head),
    handle: async (request) => handle(request as Whole),
    shapeFailure: (failure) => shapeFailure?.(failure),
  }
}
