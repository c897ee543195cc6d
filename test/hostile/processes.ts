import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpRequest } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { fileURLToPath } from 'node:url'
import type { Asked, ProbeReport, ServerReady, ServerStatistics } from './messages.ts'

const program = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))

export interface ServerUnderTest extends ServerReady {
  readonly child: ChildProcess
  ask(asked: Asked): Promise<ServerStatistics>
  stop(): Promise<void>
}

/** With a directory the server is durable. `parts`: the control plane alone, or with the operators. */
export async function startServer(
  directory = '',
  port = 0,
  parts: 'all' | 'controlplane' = 'all',
): Promise<ServerUnderTest> {
  const child = fork(program('server-child.ts'), [directory, String(port), parts], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [ready] = (await once(child, 'message')) as [ServerReady]
  return {
    ...ready,
    child,
    async ask(asked) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('The server has ended')
      const answer = once(child, 'message') as Promise<[ServerStatistics]>
      child.send(asked)
      return (await answer)[0]
    },
    stop: () => end(child),
  }
}

export interface Prober {
  report(): Promise<ProbeReport>
  stop(): Promise<void>
}

export function startProber(urls: readonly string[]): Prober {
  const child = fork(program('probe-child.ts'), urls)
  return {
    async report() {
      const answer = once(child, 'message') as Promise<[ProbeReport]>
      child.send('report')
      return (await answer)[0]
    },
    stop: () => end(child),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** A client certificate and its key in PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string }
}

export interface Received {
  /** 0 if the server closed the connection without a response. */
  readonly status: number
  readonly text: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 8, rejectUnauthorized: false })
const MAX_RESPONSE_TIME_MS = 60_000

export function send({ method, url, headers = {}, body = '', certificate }: Sent): Promise<Received> {
  return new Promise((resolve) => {
    const isSecure = url.startsWith('https:')
    const options = { method, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } }
    const onResponse = (response: IncomingMessage): void => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => undefined)
      response.on('close', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    }
    const request = isSecure
      ? httpsRequest(url, { ...options, ...certificate, agent }, onResponse)
      : httpRequest(url, { ...options, agent: false }, onResponse)
    request.setTimeout(MAX_RESPONSE_TIME_MS, () => request.destroy(new Error('no response')))
    request.on('error', (error) => resolve({ status: 0, text: error.message }))
    request.end(body)
  })
}
