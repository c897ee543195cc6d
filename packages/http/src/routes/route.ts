import type { Logger } from '@tenure/runtime'
import type { z } from 'zod'
import type { Access, AuthenticatedUser } from '../auth/access.ts'
import type { HttpResponse } from './response.ts'
import type { HttpError } from '../errors/http-error.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What is known of a request before its body is read. */
export interface RequestHead<P = unknown, Q = unknown> {
  /** Unique within this server, for logs. */
  readonly id: string
  readonly method: string
  /** As it was sent, with its query. */
  readonly url: string
  /** The path's variables, checked. */
  readonly params: P
  /** The query, checked. */
  readonly query: Q
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Who calls; undefined where nobody has to say. */
  readonly user: AuthenticatedUser | undefined
  /** Aborts when the caller is gone, when the route takes too long, and when the server cuts it off. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Refuses with a 403 unless the caller may do this too. Without authentication everybody may. */
  authorize(access: Access): Promise<void>
}

export interface HttpRequest<P = unknown, Q = unknown, B = unknown> extends RequestHead<P, Q> {
  /** Parsed and checked JSON; undefined if none was sent. */
  readonly body: B
}

/** How an answer looks, for the OpenAPI document. Answers are not checked against it. */
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
  /** Blanks per level of JSON answers; errors are never indented. Default none. */
  readonly indent?: number
  /** The largest body, in bytes. Default: the server's. */
  readonly bodyLimit?: number
  /** How deep JSON may be nested. Default: the server's. */
  readonly maxDepth?: number
  /** Milliseconds until a route that has not answered is answered for with a 504. Default: the server's. */
  readonly timeout?: number
}

export interface RouteDefinition<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> extends Described {
  /** The path's variables. Default: not checked. */
  readonly params?: P
  /** The query. Values are text, or lists of text where a name comes twice: nothing is converted. Default: not checked. */
  readonly query?: Q
  /** The JSON body. Default: whatever JSON there is, not checked. */
  readonly body?: B
  /** Who may call. Default: who has the right to the method, in lower case, on the path. */
  readonly access?: Access | ((request: RequestHead<z.output<P>, z.output<Q>>) => Access)
  /** Called before the body is read; an answer ends it there. Default: nothing. */
  readonly before?: (
    request: RequestHead<z.output<P>, z.output<Q>>,
  ) => HttpResponse | undefined | Promise<HttpResponse | undefined>
  readonly handle: (request: HttpRequest<z.output<P>, z.output<Q>, z.output<B>>) => HttpResponse | Promise<HttpResponse>
  /** Shapes the answer to a failure, the server's own included. Default, and for undefined: `{"error", "details"?}`. */
  readonly shapeFailure?: (failure: HttpError) => HttpResponse | undefined
}

/** A route, whatever the types of its request. Made by `route`. */
export interface Route extends Described {
  readonly params: z.ZodType | undefined
  readonly query: z.ZodType | undefined
  readonly body: z.ZodType | undefined
  accessOf(request: RequestHead): Access
  before(request: RequestHead): Promise<HttpResponse | undefined>
  handle(request: HttpRequest): Promise<HttpResponse>
  shapeFailure(failure: HttpError): HttpResponse | undefined
}

/** Declares a route. Its handler gets what its schemas let through. */
export function route<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  definition: RouteDefinition<P, Q, B>,
): Route {
  const { access, before, handle, shapeFailure, params, query, body, ...described } = definition
  // The server hands over only what the schemas have let through, and this is the one place to say so.
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
