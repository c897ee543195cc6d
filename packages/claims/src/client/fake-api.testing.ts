import { VirtualClock } from '@tenure/kube/testing'
import { ClaimsClient } from './claims-client.ts'
import type { HoldOptions, ClaimsClientOptions, ClientFetch } from './options.ts'

export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  /** Virtual milliseconds since the start. */
  readonly at: number
}

export interface FakeAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const CONNECTION_REFUSED = 'connection refused'
export const NO_ANSWER = 'no answer'

export type FakeOutcome = FakeAnswer | typeof CONNECTION_REFUSED | typeof NO_ANSWER

/** Answers of a claims API in virtual time. Scripted outcomes come first; then it grants what is asked for. */
export class FakeApi {
  readonly clock = new VirtualClock()
  readonly requests: FakeRequest[] = []
  /** Outcomes of the next requests, by the first segment of the path. */
  readonly next: Record<string, FakeOutcome[]> = {}
  /** Milliseconds that a claim or a renewal grants. */
  ttl = 60_000
  /** Milliseconds by which the server's clock is ahead of the client's. */
  skew = 0

  client(options: ClaimsClientOptions = {}): ClaimsClient {
    const random = { fraction: () => 0.5, key: () => 'random-key' }
    return new ClaimsClient({ url: 'http://claims.test', fetch: this.fetch, clock: this.clock, random, ...options })
  }

  /** The claim that a client gets, with what its callbacks were told. */
  async claim(options: HoldOptions = {}) {
    const lost: Error[] = []
    const errors: Error[] = []
    const held = await this.client().claim({
      ttl: '1m',
      onLost: (reason) => void lost.push(reason),
      onError: (failure) => void errors.push(failure),
      ...options,
    })
    return { held, lost, errors }
  }

  /** The virtual times of the requests to a route. */
  times(route: string): readonly number[] {
    return this.requests.filter(({ path }) => path.startsWith(`/${route}`)).map(({ at }) => at)
  }

  readonly fetch: ClientFetch = async (url, { method = 'GET', body, headers, signal }) => {
    const path = url.replace('http://claims.test', '')
    this.requests.push({
      method,
      path,
      body: typeof body === 'string' ? JSON.parse(body) : undefined,
      headers: headers as Record<string, string>,
      at: this.clock.monotonic(),
    })
    const outcome = this.next[path.split('/')[1] ?? '']?.shift() ?? this.#granted(path)
    if (outcome === NO_ANSWER) return await new Promise((_, reject) => onAbort(signal, reject))
    if (outcome === CONNECTION_REFUSED) throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })
    const text = typeof outcome.body === 'string' ? outcome.body : JSON.stringify(outcome.body)
    return new Response(outcome.status === 204 ? null : text, {
      status: outcome.status,
      headers: { date: new Date(this.clock.now() + this.skew).toUTCString(), ...outcome.headers },
    })
  }

  #granted(path: string): FakeAnswer {
    const expiresAt = new Date(this.clock.now() + this.skew + this.ttl).toISOString()
    if (path === '/claim') {
      return { status: 201, body: { data: { fqdn: 'web.example' }, expiresAt, id: 'abc', preProvisioned: true } }
    }
    return path.startsWith('/renew/') ? { status: 200, body: { expiresAt, id: 'abc' } } : { status: 204 }
  }
}

function onAbort(signal: AbortSignal | null | undefined, reject: (reason: unknown) => void): void {
  if (signal?.aborted) reject(signal.reason)
  else signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
}
