import { TestControlPlane } from '@tenure/controlplane/testing'
import { request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { Listening } from '@tenure/http'
import { httpServer } from '@tenure/http'
import type { Clock, KubeApi } from '@tenure/kube'
import { systemClock } from '@tenure/kube'
import type { RunOperatorsOptions } from '@tenure/runtime'
import { createMetrics } from '@tenure/runtime'
import { ApplicationAdmission } from '../admission/index.ts'
import { applicationDefinition } from '../api/crd.ts'
import type { Application } from '../api/index.ts'
import { EventHistory } from '../events/history.ts'
import { ApplicationMetrics } from '../metrics.ts'
import { runSetup } from './run-setup.ts'
import { applicationRoutes } from '../http/routes.ts'
import type { ApplicationRoutesOptions } from '../http/options.ts'

export const RESOURCES = '/apis/cloudnative.elide.dev/v1/namespaces/default/applications'

export interface RoutesFixture {
  readonly server: TestControlPlane
  readonly events: EventHistory
  /** Client of the operator's process, which its caches observe. */
  readonly api: KubeApi
  readonly url: string
  readonly port: number
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpResult>
  close(): Promise<void>
}

export interface HttpResult {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: unknown
}

export interface RoutesFixtureOptions {
  readonly clock?: Clock
  /** Default: a new control plane, which is stopped with the fixture. */
  readonly server?: TestControlPlane
  readonly routes?: Partial<ApplicationRoutesOptions>
  /** Identity of the process. Default: the host name and a random part. */
  readonly podName?: string
  /** Default: no election. */
  readonly leaderElection?: RunOperatorsOptions['leaderElection']
}

const open: RoutesFixture[] = []

/** Closes every fixture of a test. */
export async function closeRoutes(): Promise<void> {
  // The newest first: it may use the control plane of an earlier one.
  for (const fixture of open.splice(0).toReversed()) await fixture.close()
}

/** The routes, served by a manager on the embedded control plane. */
export async function serveRoutes(options: RoutesFixtureOptions = {}): Promise<RoutesFixture> {
  const { clock = systemClock } = options
  const server = options.server ?? (await TestControlPlane.start({ clock, crds: [applicationDefinition] }))
  const listening = Promise.withResolvers<Listening>()
  const metrics = await createMetrics({ processMetrics: false })
  const { podName, leaderElection } = options
  const running = await runSetup(
    {
      server,
      metrics,
      settings: { podName },
      leaderElection: leaderElection ?? false,
      servers: [httpServer({ address: '127.0.0.1:0', onListening: listening.resolve })],
      gracePeriod: 1_000,
    },
    (context) => {
      const measured = new ApplicationMetrics(context)
      const events = new EventHistory(context, { watchRemote: false })
      const reviews = new ApplicationAdmission(context, { metrics: measured })
      return {
        routes: applicationRoutes(context, { events, reviews, ...options.routes }),
        result: { events, api: context.api },
      }
    },
  )
  running.ended.catch(listening.reject)
  const { events, api } = running.result
  const { url, port } = await listening.promise
  const fixture: RoutesFixture = {
    server,
    events,
    api,
    url,
    port,
    call: (method, path, body, headers) => call(method, { url, path }, body, headers),
    close: async () => {
      await running.stop()
      if (!options.server) await server.stop()
    },
  }
  open.push(fixture)
  return fixture
}

function call(
  method: string,
  { url, path }: { readonly url: string; readonly path: string },
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResult> {
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const type = payload === undefined ? {} : { 'content-type': 'application/json' }
    // The path is sent as it is; a URL would resolve `%2e%2e`.
    const options = { method, path, agent: false, headers: { ...type, ...headers } }
    const request = httpRequest(url, options, (response) => {
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
