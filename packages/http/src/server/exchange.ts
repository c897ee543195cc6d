import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { z } from 'zod'
import type { Access, AuthenticatedUser } from '../auth/access.ts'
import type { HttpResponse } from '../routes/response.ts'
import type { Detail } from '../errors/http-error.ts'
import { HttpError, invalidRequest, notFound } from '../errors/http-error.ts'
import type { HttpRequest, RequestHead, Route } from '../routes/route.ts'
import type { RequestRate } from '../auth/request-rate.ts'
import type { AccessControl } from '../auth/token-access-control.ts'
import type { AuditedObject, AuditedWrite } from './audit.ts'
import { WorkLimit } from './work-limit.ts'

export interface ExchangeFacts {
  readonly id: string
  readonly route: Route
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  /** As parsed by the router. */
  readonly params: Readonly<Record<string, unknown>>
  readonly query: unknown
  readonly clock: Clock
  readonly log: Logger
  readonly accessControl: AccessControl
  readonly rate: RequestRate
  /** Milliseconds. */
  readonly responseTimeout: number
}

/** One request to a route: validation, authentication, authorization and the response. */
export class Exchange {
  readonly #facts: ExchangeFacts
  readonly #limit: WorkLimit
  readonly #onClose: (() => void)[] = []
  #user: AuthenticatedUser | undefined
  /** Access that the caller was granted. */
  readonly #granted: Access[] = []
  #asked: Access | undefined
  #audited: AuditedObject = {}
  #head: RequestHead | undefined

  constructor(facts: ExchangeFacts) {
    this.#facts = facts
    const { clock, response, responseTimeout } = facts
    this.#limit = new WorkLimit(clock, responseTimeout)
    response.once('close', () => {
      if (!response.writableFinished) this.#limit.end(new Error('The caller has disconnected'))
      for (const callback of this.#onClose) callback()
    })
  }

  get route(): Route {
    return this.#facts.route
  }

  /** Undefined before `open`, and without authentication. */
  get user(): AuthenticatedUser | undefined {
    return this.#user
  }

  /** Calls back when the response is sent or the caller has disconnected. */
  onClose(callback: () => void): void {
    this.#onClose.push(callback)
  }

  /** Everything before the body is read. A response ends the request. */
  open(): Promise<HttpResponse | undefined> {
    return this.#limit.during(async (signal) => {
      const { accessControl, rate, raw, route, query, params } = this.#facts
      // The router matches an empty segment as a parameter.
      if (Object.values(params).includes('')) throw notFound()
      const head = this.#makeHead(signal, {
        params: check(route.params, params, 'path'),
        query: check(route.query, query, 'query'),
      })
      const access = route.accessOf(head)
      if (access !== 'public') {
        const from = raw.socket.remoteAddress ?? ''
        this.#user = await accessControl.authenticate(raw.headers.authorization, from)
        rate.take(this.#user ? `user ${this.#user.name}` : `address ${from}`)
        await this.#authorize(access)
      }
      this.#head = { ...head, user: this.#user }
      return route.before(this.#head)
    })
  }

  /** The response of the route. */
  handle(body: unknown): Promise<HttpResponse> {
    return this.#limit.during((signal) => {
      const head = this.#head
      if (!head) throw new HttpError('TENURE_HTTP_INTERNAL', 500, 'Internal Server Error')
      const request: HttpRequest = { ...head, signal, body: check(this.#facts.route.body, body, 'body') }
      return this.#facts.route.handle(request)
    })
  }

  /** Whether the caller had to be authorized. */
  get isGuarded(): boolean {
    return this.#granted.length > 0
  }

  /** Authenticates and authorizes the caller again. Rejects with a 401 or 403 if it has lost the access. */
  async checkAgain(): Promise<void> {
    const { accessControl, raw } = this.#facts
    const user = await accessControl.authenticate(raw.headers.authorization)
    await Promise.all(this.#granted.map((access) => accessControl.authorize(user, access)))
  }

  /** The facts for the audit log. Complete once the response has ended. */
  get audited(): AuditedWrite {
    const { id: requestId, raw, response, route } = this.#facts
    return {
      requestId,
      method: raw.method ?? '',
      route: route.path,
      user: this.#user,
      remoteAddress: raw.socket.remoteAddress ?? '',
      forwardedFor: raw.headers['x-forwarded-for']?.toString(),
      access: this.#asked,
      object: this.#audited,
      status: response.headersSent ? response.statusCode : undefined,
    }
  }

  async #authorize(access: Access): Promise<void> {
    this.#asked = access
    await this.#facts.accessControl.authorize(this.#user, access)
    if (access !== 'public') this.#granted.push(access)
  }

  #makeHead(signal: AbortSignal, checked: { readonly params: unknown; readonly query: unknown }): RequestHead {
    const { id, raw, log, route } = this.#facts
    return {
      id,
      method: raw.method ?? '',
      url: raw.url ?? '/',
      headers: raw.headers,
      ...checked,
      user: undefined,
      remoteAddress: raw.socket.remoteAddress ?? '',
      signal,
      log: log.child(() => ({ requestId: id, method: raw.method, route: route.path })),
      authorize: (access: Access) => this.#authorize(access),
      audit: (object: AuditedObject) => {
        this.#audited = { ...this.#audited, ...object }
      },
    }
  }
}

function check(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (!schema) return value
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalidRequest(result.error.issues.map((issue) => detailOf(issue, where)))
}

function detailOf({ path, message }: z.core.$ZodIssue, where: string): Detail {
  let field = ''
  for (const part of path) {
    if (typeof part === 'number') field += `[${part}]`
    else field += field ? `.${String(part)}` : String(part)
  }
  return { field: field || where, message }
}
