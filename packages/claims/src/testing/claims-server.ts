import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, systemRandom } from '@tenure/kube'
import { ceilSecond, parseDuration, rfc3339 } from '@tenure/runtime'
import { newClaimId } from '../api/id.ts'

export interface ClaimsServerOptions {
  /** Default `10m`. */
  readonly defaultTtl?: string
  /** Default `10m`. */
  readonly maxTtl?: string
  /** Default: `default` and `chrome`. */
  readonly pools?: readonly string[]
  /** Return values of every claim. Default `{fqdn}`. */
  readonly data?: Readonly<Record<string, string>>
}

export interface ServedRequest {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: IncomingMessage['headers']
}

export interface ServedClaim {
  readonly id: string
  readonly pool: string
  readonly key: string | undefined
  readonly values: unknown
  readonly claimedAt: number
  expiresAt: number
}

/** Replaces the next response of a route: an error, `lost` (the work is done, the answer is not sent), or `none`. */
export type ServedFault =
  | { readonly status: number; readonly message: string; readonly retryAfter?: number }
  | 'lost'
  | 'none'

class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A claims API over HTTP without a cluster: claims exist in memory only. For tests of its clients. */
export class ClaimsServer implements AsyncDisposable {
  readonly requests: ServedRequest[] = []
  readonly claims = new Map<string, ServedClaim>()
  readonly #options: Required<ClaimsServerOptions>
  readonly #server: Server
  readonly #faults = new Map<string, ServedFault[]>()

  private constructor(options: ClaimsServerOptions) {
    const defaults = { defaultTtl: '10m', maxTtl: '10m', pools: ['default', 'chrome'], data: { fqdn: 'web.example' } }
    this.#options = { ...defaults, ...options }
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  static async start(options: ClaimsServerOptions = {}): Promise<ClaimsServer> {
    const server = new ClaimsServer(options)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Replaces the next responses of a route (`claim`, `renew`, `release`, `claims`). */
  fault(route: string, ...faults: readonly ServedFault[]): void {
    this.#faults.set(route, [...(this.#faults.get(route) ?? []), ...faults])
  }

  /** The requests to a route. */
  to(route: string): readonly ServedRequest[] {
    return this.requests.filter(({ path }) => path.split('/')[1] === route)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { method = '', url: path = '', headers } = request
    const [, route = '', id = ''] = path.split('/')
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    this.requests.push({ method, path, body, headers })
    const fault = this.#faults.get(route)?.shift()
    if (fault === 'none') return
    if (fault !== undefined && fault !== 'lost') {
      const retryAfter = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }
      return refuse(response, fault.status, fault.message, retryAfter)
    }
    try {
      const { status, result } = this.#answer(`${method} /${route}`, decodeURIComponent(id), body, headers)
      if (fault === 'lost') return void response.socket?.destroy()
      if (result === undefined) return void response.writeHead(status).end()
      response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(result)}\n`)
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500
      refuse(response, status, error instanceof Error ? error.message : String(error))
    }
  }

  #answer(
    route: string,
    id: string,
    body: Readonly<Record<string, unknown>>,
    headers: IncomingMessage['headers'],
  ): { readonly status: number; readonly result?: unknown } {
    switch (route) {
      case 'POST /claim':
        return { status: 201, result: this.#take(body, headers['idempotency-key']) }
      case 'POST /renew':
        return { status: 200, result: this.#renew(id, this.#ttl(body)) }
      case 'POST /release':
        this.claims.delete(this.#live(id).id)
        return { status: 204 }
      case 'GET /claim':
        return { status: 200, result: report(this.#live(id)) }
      case 'GET /claims':
        return { status: 200, result: { claims: [...this.claims.values()].map(report), pools: this.#pools() } }
      default:
        throw new Refusal(404, '404 page not found')
    }
  }

  #take(body: Readonly<Record<string, unknown>>, header: string | readonly string[] | undefined): unknown {
    const ttl = this.#ttl(body)
    const pool = typeof body['pool'] === 'string' ? body['pool'] : 'default'
    if (!this.#options.pools.includes(pool)) throw new Refusal(404, `unknown pool ${JSON.stringify(pool)}`)
    const now = systemClock.now()
    const key = typeof header === 'string' ? header : undefined
    const before = [...this.claims.values()].find((claim) => key !== undefined && claim.key === key)
    const expiresAt = ceilSecond(now + Math.min(ttl, parseDuration(this.#options.maxTtl)))
    const id = newClaimId(systemRandom)
    const claim = before ?? { id, pool, key, values: body['values'], claimedAt: now, expiresAt }
    this.claims.set(claim.id, claim)
    return {
      data: this.#options.data,
      expiresAt: rfc3339(claim.expiresAt),
      id: claim.id,
      preProvisioned: false,
      releaseMethod: 'POST',
      releasePath: `/release/${claim.id}`,
      ...renewal(claim),
    }
  }

  #renew(id: string, ttl: number): unknown {
    const claim = this.#live(id)
    const now = systemClock.now()
    const latest = claim.claimedAt + parseDuration(this.#options.maxTtl)
    if (latest <= now) throw new Refusal(409, 'max ttl already reached')
    claim.expiresAt = Math.max(ceilSecond(Math.min(now + ttl, latest)), claim.expiresAt)
    return { expiresAt: rfc3339(claim.expiresAt), id, ...renewal(claim) }
  }

  #live(id: string): ServedClaim {
    const claim = this.claims.get(id)
    if (!claim || claim.expiresAt <= systemClock.now()) throw new Refusal(404, 'claim not found')
    return claim
  }

  #ttl({ ttl }: Readonly<Record<string, unknown>>): number {
    const text = typeof ttl === 'string' && ttl.trim() !== '' ? ttl.trim() : this.#options.defaultTtl
    let milliseconds
    try {
      milliseconds = parseDuration(text)
    } catch {
      throw new Refusal(400, `invalid ttl duration: time: invalid duration ${JSON.stringify(text)}`)
    }
    if (milliseconds <= 0) throw new Refusal(400, 'ttl must be greater than 0')
    return milliseconds
  }

  #pools(): readonly object[] {
    const claimed = (name: string): number => [...this.claims.values()].filter(({ pool }) => pool === name).length
    return this.#options.pools.map((name) => ({ name, ready: 2, pending: 1, failing: 0, claimed: claimed(name) }))
  }
}

function renewal({ id }: ServedClaim): object {
  return { renewMethod: 'POST', renewPath: `/renew/${id}`, status: 'ok' }
}

function report({ id, pool, claimedAt, expiresAt }: ServedClaim): object {
  const times = { createdAt: rfc3339(claimedAt), claimedAt: rfc3339(claimedAt), expiresAt: rfc3339(expiresAt) }
  const pod = { kind: 'Pod', name: `claim-${id}`, namespace: 'default', ready: true, message: 'pod ready' }
  return {
    id,
    pool,
    status: 'ready',
    message: 'all resources ready',
    preProvisioned: false,
    ...times,
    resources: [pod],
  }
}

function refuse(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  const text = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  response.writeHead(status, { ...text, ...headers }).end(`${message}\n`)
}
