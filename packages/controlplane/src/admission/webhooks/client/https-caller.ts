import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Agent, RequestOptions } from 'node:https'
import { abortReason } from '@tenure/kube'
import type { WebhookAnswer, WebhookCaller, WebhookPost } from './caller.ts'
import { goWords } from './go-net-errors.ts'

/** As many agents as there are webhooks of different authorities; the one that was not used for longest goes. */
const MOST_AGENTS = 200
/** A patch may rewrite an object of 3 MiB, in base64. */
const LARGEST_ANSWER = 16 * 1024 * 1024
const IDLE_SOCKETS = 16

/** Calls webhooks over HTTPS, on connections that are kept. */
export class HttpsCaller implements WebhookCaller {
  readonly #agents = new Map<string, Agent>()
  #isClosed = false

  async post(post: WebhookPost): Promise<WebhookAnswer> {
    // Loaded by those who have webhooks: most do not.
    const https = await import('node:https')
    if (this.#isClosed) throw new Error('the control plane is stopping')
    const agent = this.#agent(post.certificateAuthority ?? '', () => new https.Agent(agentOptions(post)))
    const exchange = new Exchange(post, (options, listener) => https.request({ ...options, agent }, listener))
    return exchange.run()
  }

  close(): void {
    this.#isClosed = true
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  #agent(key: string, make: () => Agent): Agent {
    const agent = this.#agents.get(key) ?? make()
    // Again at the end: the first is the one that was not used for longest.
    this.#agents.delete(key)
    this.#agents.set(key, agent)
    for (const [oldest, unused] of this.#agents) {
      if (this.#agents.size <= MOST_AGENTS) break
      this.#agents.delete(oldest)
      unused.destroy()
    }
    return agent
  }
}

function agentOptions({ certificateAuthority: ca }: WebhookPost): ConstructorParameters<typeof Agent>[0] {
  return { keepAlive: true, maxFreeSockets: IDLE_SOCKETS, ...(ca !== undefined && { ca }) }
}

type Open = (options: RequestOptions, listener: (response: IncomingMessage) => void) => ClientRequest

class Exchange {
  readonly #post: WebhookPost
  readonly #open: Open

  constructor(post: WebhookPost, open: Open) {
    this.#post = post
    this.#open = open
  }

  async run(): Promise<WebhookAnswer> {
    for (let isFirst = true; ; isFirst = false) {
      const outcome = await this.#attempt()
      if (!(outcome instanceof Lost)) return outcome
      // The other side closed a kept connection just as it was used again: it has hardly seen the question.
      if (isFirst && outcome.wasReused && !this.#post.signal.aborted) continue
      throw outcome.reason
    }
  }

  #attempt(): Promise<WebhookAnswer | Lost> {
    const { url, address, body, signal } = this.#post
    const hostname = url.hostname.replaceAll(/^\[|\]$/g, '')
    const port = url.port === '' ? 443 : Number(url.port)
    const isName = !/^[\d.]+$|:/.test(hostname)
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve(new Lost(abortReason(signal), false))
        return
      }
      const request = this.#open(
        {
          host: address?.host ?? hostname,
          port: address?.port ?? port,
          method: 'POST',
          path: `${url.pathname}${url.search}`,
          // Certificates are issued for the name of the service, wherever it is.
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
            if (length > LARGEST_ANSWER) request.destroy(new Error(`the answer has more than ${LARGEST_ANSWER} bytes`))
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
        resolve(new Lost(signal.aborted ? abortReason(signal) : goWords(error, at, hostname), wasReused))
      }
      request.on('error', fail).end(body)
    })
  }
}

/** No answer. */
class Lost {
  readonly reason: Error
  readonly wasReused: boolean

  constructor(reason: Error, wasReused: boolean) {
    this.reason = reason
    this.wasReused = wasReused
  }
}
