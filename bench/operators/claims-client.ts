import { Agent, request as httpRequest } from 'node:http'

export interface Taken {
  readonly id: string
  readonly preProvisioned: boolean
}

interface Pools {
  readonly pools: readonly {
    readonly name: string
    readonly ready: number
    readonly pending: number
    readonly claimed: number
  }[]
}

/** A caller of the claims API, with connections that are kept open. */
export class ClaimsClient {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true })

  constructor(port: number) {
    this.#port = port
  }

  /** Rejects unless the response is a 201. */
  async take(body?: object): Promise<Taken> {
    return JSON.parse(await this.#send('POST', '/claim', 201, body)) as Taken
  }

  async release(id: string): Promise<void> {
    await this.#send('POST', `/release/${id}`, 204)
  }

  async pools(): Promise<Pools['pools']> {
    return (JSON.parse(await this.#send('GET', '/claims', 200)) as Pools).pools
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(method: string, path: string, expected: number, body?: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port: this.#port, method, path, agent: this.#agent })
      request.on('error', reject)
      request.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          if (response.statusCode === expected) resolve(text)
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text.trim()}`))
        })
      })
      request.end(body && JSON.stringify(body))
    })
  }
}
