import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Agent, RequestOptions } from 'node:https'
import { abortReason } from '@tenure/kube'
import { LRUCache } from 'lru-cache'
import type { WebhookResponse, WebhookCaller, WebhookPost } from './caller.ts'
import { goNetError } from './go-net-errors.ts'

/** Maximum number of agents, one per certificate authority. Beyond it the least recently used agent is destroyed. */
const MAX_AGENTS = 200
/** Maximum size of a response. A patch may replace an object of 3 MiB, in base64. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024
const MAX_IDLE_SOCKETS = 16

/** Calls webhooks over HTTPS with keep-alive. */
export class HttpsCaller implements WebhookCaller {
  readonly #agents = new LRUCache<string, Agent>({ max: MAX_AGENTS, dispose: (agent) => agent.destroy() })
  #isClosed = false

  async post(post: WebhookPost): Promise<WebhookResponse> {
    // Loaded on demand: most control planes have no webhooks.
    const https = await import('node:https')
    if (this.#isClosed) throw new Error('the control plane is stopping')
    const agent = this.#agent(post.certificateAuthority ?? '', () => new https.Agent(agentOptions(post)))
    const exchange = new Exchange(post, (options, listener) => https.request({ ...options, agent }, listener))
    return exchange.run()
  }

  close(): void {
    this.#isClosed = true
    this.#agents.clear()
  }

  #agent(key: string, make: () => Agent): Agent {
    const known = this.#agents.get(key)
    if (known) return known
    const agent = make()
    this.#agents.set(key, agent)
    return agent
  }
}

function agentOptions({ certificateAuthority: ca }: WebhookPost): ConstructorParameters<typeof Agent>[0] {
  const common = { keepAlive: true, maxFreeSockets: MAX_IDLE_SOCKETS }
  // As in Go, every certificate of the bundle is trusted, even one that is not an authority.
  return ca === undefined ? common : { ...common, ca, allowPartialTrustChain: true }
}

type Open = (options: RequestOptions, listener: (response: IncomingMessage) => void) => ClientRequest

class Exchange {
  readonly #post: WebhookPost
  readonly #open: Open

  constructor(post: WebhookPost, open: Open) {
    this.#post = post
    this.#open = open
  }

  async run(): Promise<WebhookResponse> {
    for (let isFirst = true; ; isFirst = false) {
      const outcome = await this.#attempt()
      if (!(outcome instanceof FailedAttempt)) return outcome
      // The server closed a kept-alive connection while it was reused: it has not processed the request.
      if (isFirst && outcome.wasReused && !this.#post.signal.aborted) continue
      throw outcome.reason
    }
  }

  #attempt(): Promise<WebhookResponse | FailedAttempt> {
    const { url, address, body, signal } = this.#post
    const hostname = url.hostname.replaceAll(/^\[|\]$/g, '')
    const port = url.port === '' ? 443 : Number(url.port)
    const isName = !/^[\d.]+$|:/.test(hostname)
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve(new FailedAttempt(abortReason(signal), false))
        return
      }
      const request = this.#open(
        {
          host: address?.host ?? hostname,
          port: address?.port ?? port,
          method: 'POST',
          path: `${url.pathname}${url.search}`,
          // Certificates are issued for the name of the Service, not for its address.
          ...(isName && { servername: hostname }),
          headers: {
            host: url.host,
            'user-agent': 'kube-apiserver-admission',
            accept: 'application/json, */*',
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          },
          signal,
        },
        (response) => {
          const chunks: Buffer[] = []
          let length = 0
          response.on('data', (chunk: Buffer) => {
            length += chunk.length
            chunks.push(chunk)
            if (length > MAX_RESPONSE_BYTES)
              request.destroy(new Error(`the response has more than ${MAX_RESPONSE_BYTES} bytes`))
          })
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              contentType: response.headers['content-type'] ?? '',
              body: Buffer.concat(chunks).toString('utf8'),
            }),
          )
          response.on('error', fail)
        },
      )
      const fail = (error: Error): void => {
        const wasReused = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        const at = { host: address?.host ?? hostname, port: address?.port ?? port }
        resolve(new FailedAttempt(signal.aborted ? abortReason(signal) : goNetError(error, at, hostname), wasReused))
      }
      request.on('error', fail).end(body)
    })
  }
}

/** An attempt without response. */
class FailedAttempt {
  readonly reason: Error
  readonly wasReused: boolean

  constructor(reason: Error, wasReused: boolean) {
    this.reason = reason
    this.wasReused = wasReused
  }
}
