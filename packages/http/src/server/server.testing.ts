import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock, KubeApi, Transport } from '@tenure/kube'
import { Client, ConnectionError, systemClock } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import type { ManagerContext, Metrics } from '@tenure/runtime'
import { createMetrics, Discovery, Probes, SharedInformers, silentLogger } from '@tenure/runtime'
import type { HttpServerOptions, Listening } from './http-server.ts'
import { HttpServer } from './http-server.ts'
import type { Route } from '../routes/route.ts'

export interface ServedRoutes {
  readonly server: HttpServer
  readonly listening: Listening
  readonly metrics: Metrics
}

const open: HttpServer[] = []

/** Stops every server that a test has started. */
export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((server) => server.stop(0)))
}

/** The HTTP server itself sends no requests to the API server. */
const unreachable: Transport = {
  request: () => Promise.reject(new ConnectionError('TENURE_CONNECTION_REFUSED', 'There is no API server.')),
  close: () => Promise.resolve(),
}

export async function contextOf(clock: Clock, given?: KubeApi): Promise<ManagerContext> {
  const random = seededRandom(1)
  const api = given ?? new Client({ transport: unreachable, clock, random, defaultNamespace: 'default' })
  return {
    api,
    informers: new SharedInformers({ api, clock, random }),
    discovery: new Discovery(new Client({ transport: unreachable, clock, random }).requester, clock),
    probes: new Probes({ clock }),
    metrics: await createMetrics({ processMetrics: false }),
    log: silentLogger,
    clock,
    random,
    namespace: 'default',
  }
}

/** A server on a free port. */
export async function serving(
  routes: readonly Route[],
  options: Partial<HttpServerOptions> = {},
  clock: Clock = systemClock,
): Promise<ServedRoutes> {
  const context = await contextOf(clock)
  let listening: Listening | undefined
  const server = new HttpServer(
    { address: '127.0.0.1:0', routes, onListening: (where) => (listening = where), ...options },
    context,
  )
  open.push(server)
  await server.start()
  if (!listening) throw new Error('The server does not listen')
  return { server, listening, metrics: context.metrics }
}

export interface TestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: unknown
}

export interface TestRequestOptions {
  readonly method?: string
  readonly body?: string | Buffer | object
  readonly headers?: Readonly<Record<string, string>>
  readonly ca?: string
}

export function call(
  url: string,
  { method = 'GET', body, headers = {}, ca }: TestRequestOptions = {},
): Promise<TestResponse> {
  const payload = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const request = send(
      url,
      {
        method,
        agent: false,
        ...(ca !== undefined && { ca }),
        headers: {
          ...(payload !== undefined && {
            'content-type': 'application/json',
            ...(!headers['transfer-encoding'] && { 'content-length': String(Buffer.byteLength(payload)) }),
          }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = response.headers['content-type']?.startsWith('application/json') ?? false
          const json: unknown = isJson && text ? JSON.parse(text) : undefined
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
        })
      },
    )
    request.on('error', reject)
    request.end(payload)
  })
}
