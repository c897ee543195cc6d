import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@tenure/kube'
import { abortReason, withTimeout } from '@tenure/kube'
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
  readonly #gone = new AbortController()
  #user: AuthenticatedUser | undefined
  /** Access that the caller was granted. */
  readonly #granted: Access[] = []
  #asked: Access | undefined
  #audited: AuditedObject = {}
  #head: RequestHead | undefined
  #budget: Budget | undefined

  constructor(facts: ExchangeFacts) {
    this.#facts = facts
    facts.response.once('close', () => {
      if (!facts.response.writableFinished) this.#gone.abort(new Error('The caller has disconnected'))
      this.#budget?.dispose()
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
    this.#facts.response.once('close', callback)
  }

  /** Everything before the body is read. A response ends the request. */
  open(): Promise<HttpResponse | undefined> {
    return this.#within(async (signal) => {
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
    return this.#within((signal) => {
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
      log: log.child({ requestId: id, method: raw.method, route: route.path }),
      authorize: (access: Access) => this.#authorize(access),
      audit: (object: AuditedObject) => {
        this.#audited = { ...this.#audited, ...object }
      },
    }
  }

  /** A route that hangs gets a response by time-out. */
  #within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const budget = this.#renewBudget()
    return Promise.race([work(budget.signal), budget.over])
  }

  /** The time for sending the body does not count towards the time-out of the route. */
  #renewBudget(): Budget {
    const { clock, responseTimeout } = this.#facts
    const now = clock.monotonic()
    const budget = this.#budget
    if (budget && now - budget.since < MIN_BUDGET_AGE_MS) return budget
    budget?.dispose()
    const limit = withTimeout(clock, responseTimeout, tookTooLong, this.#gone.signal)
    const over = aborted(limit.signal)
    // The time-out may fire while no code waits for it, as during a slow body.
    over.catch(() => undefined)
    this.#budget = { since: now, signal: limit.signal, over, dispose: () => limit.dispose() }
    return this.#budget
  }
}

/** The time limit of a route. */
interface Budget {
  readonly since: number
  readonly signal: AbortSignal
  /** Rejects when the time has passed or the caller has disconnected. */
  readonly over: Promise<never>
  dispose(): void
}

/** A younger budget is reused instead of a new timer. */
const MIN_BUDGET_AGE_MS = 100

function tookTooLong(): HttpError {
  return new HttpError('TENURE_HTTP_TIMEOUT', 504, 'This took too long; try again')
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(abortReason(signal))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
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
