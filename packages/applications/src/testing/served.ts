import { request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { Listening } from '@tenure/http'
import { httpServer } from '@tenure/http'
import type { Clock } from '@tenure/kube'
import { systemClock } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import type { ManagerOptions } from '@tenure/runtime'
import { createMetrics, manager } from '@tenure/runtime'
import { MemoryApi } from '@tenure/runtime/testing'
import { ApplicationAdmission } from '../admission/index.ts'
import { OPERATOR } from '../api/index.ts'
import type { Application } from '../api/index.ts'
import { EventHistory } from '../events/history.ts'
import { applicationRoutes } from '../http/routes.ts'
import type { ApplicationRoutesOptions } from '../http/options.ts'

export const RESOURCES = '/apis/cloudnative.elide.dev/v1/namespaces/default/applications'

export interface World {
  readonly memory: MemoryApi
  readonly events: EventHistory
  readonly url: string
  readonly port: number
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Called>
  close(): Promise<void>
}

export interface Called {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: unknown
}

export interface WorldOptions {
  readonly clock?: Clock
  readonly memory?: MemoryApi
  readonly routes?: Partial<ApplicationRoutesOptions>
  readonly manager?: Partial<ManagerOptions>
}

const open: World[] = []

/** Closes every world that a test has made. */
export async function closeWorlds(): Promise<void> {
  await Promise.all(open.splice(0).map((world) => world.close()))
}

/** The routes as a manager serves them, on a Kubernetes API in memory. */
export async function makeWorld(options: WorldOptions = {}): Promise<World> {
  const { clock = systemClock, memory = new MemoryApi({ clock }) } = options
  memory.seed(Namespace, { metadata: { name: 'default' } })
  const events = new EventHistory({ clock, watchRemote: false })
  const listening = Promise.withResolvers<Listening>()
  const end = new AbortController()
  const routes = applicationRoutes({ events, reviews: new ApplicationAdmission(), ...options.routes })
  const running = manager({
    transport: memory,
    clock,
    name: OPERATOR,
    metrics: await createMetrics({ processMetrics: false }),
    components: [httpServer({ address: '127.0.0.1:0', routes: [routes], onListening: listening.resolve })],
    freeze: true,
    gracePeriod: 1_000,
    ...options.manager,
  }).run(end.signal)
  running.catch(listening.reject)
  const { url, port } = await listening.promise
  const world: World = {
    memory,
    events,
    url,
    port,
    call: (method, path, body, headers) => call(method, url + path, body, headers),
    close: async () => {
      end.abort()
      await running
    },
  }
  open.push(world)
  return world
}

function call(
  method: string,
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Called> {
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const type = payload === undefined ? {} : { 'content-type': 'application/json' }
    const request = httpRequest(url, { method, agent: false, headers: { ...type, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = response.headers['content-type']?.startsWith('application/json') ?? false
        const json: unknown = isJson && text ? JSON.parse(text) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
      })
    })
    request.on('error', reject)
    request.end(payload)
  })
}

export function applicationOf(name: string, more: Partial<Application> = {}): Application {
  return {
    apiVersion: 'cloudnative.elide.dev/v1',
    kind: 'Application',
    metadata: { name, namespace: 'default' },
    spec: { replicas: 3, image: 'nginx:latest', strategy: 'RollingUpdate' },
    ...more,
  }
}
