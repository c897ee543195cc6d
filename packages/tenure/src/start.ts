import { dashboard, page } from '@tenure/dashboard'
import { httpConfig, httpServer, httpServerSettings, ownServers, type OwnServer } from '@tenure/http'
import { asError, systemRandom } from '@tenure/kube'
import { createLogger, createMetrics, defaultIdentity, runOperators } from '@tenure/runtime'
import { defineConfiguration, type Table, type Values } from '@tenure/runtime/configuration'
import { openControlPlane } from './control-plane.ts'
import { HostedPostgres } from './hosted-postgres.ts'
import { HostedWebhooks } from './hosted-webhooks.ts'
import { operators } from './loaded-operators.ts'
import { configVariables } from './run-operator.ts'
import { say } from './say.ts'
import { embeddedDefaults, embeddedOperator, embeddedTable } from './start-settings.ts'

const DEFAULT_PORT = 3000

const { host, auth, tlsCertFile, tlsKeyFile, maxRequestsPerSecond } = httpConfig

const table = {
  host,
  auth,
  tlsCertFile,
  tlsKeyFile,
  maxRequestsPerSecond,
  data: { type: 'string', default: '.tenure', environment: 'TENURE_DATA', meaning: 'Directory of all data.' },
  port: {
    type: 'integer',
    min: 0,
    max: 65_535,
    meaning: 'Port of the HTTP API, probes and metrics. Default: 3000, or the next free port.',
  },
  kubernetesPort: {
    type: 'integer',
    min: 0,
    max: 65_535,
    // Kubernetes itself sets KUBERNETES_PORT in every container.
    environment: 'TENURE_KUBERNETES_PORT',
    meaning: 'Port of the Kubernetes API. Default: 6443, or the next free port.',
  },
  verbose: { type: 'boolean', default: false, meaning: 'Log what happens.' },
} as const satisfies Table

export const startConfiguration = defineConfiguration({
  program: 'tenure start',
  summary: 'Starts everything, with nothing installed: a Kubernetes API kept on disk, and all operators on it.',
  options: { ...embeddedTable(operators), ...table },
  configEnvironment: configVariables(operators),
})

export type StartSettings = Values<typeof table> & Values<Table>

/** Runs all operators on the embedded control plane until `signal` aborts. */
export async function start(settings: StartSettings, signal: AbortSignal): Promise<void> {
  const log = await createLogger({ level: settings.verbose ? 'info' : 'warn', format: 'text' })
  const ended = new AbortController()
  const identity = defaultIdentity(systemRandom)
  const webhooks = new HostedWebhooks(ended.signal)
  const postgres = HostedPostgres.needed(settings, { directory: settings.data, log, say })
  const plane = await openControlPlane(
    {
      directory: settings.data,
      port: settings.kubernetesPort,
      log,
      say,
      operators: { identity, webhooks },
      services: postgres instanceof HostedPostgres ? [postgres] : [],
    },
    signal,
  )
  const stop = (): void => ended.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const failed = plane.failed.catch((error: unknown) => {
    ended.abort(asError(error))
    throw error
  })
  const running = runAll()
  try {
    await Promise.race([failed, running])
  } finally {
    ended.abort()
    signal.removeEventListener('abort', stop)
    // The operators end first: another process may take the Leases of a host that has left the data directory.
    await running.catch(() => undefined)
    await plane.close()
  }

  async function runAll(): Promise<void> {
    const { host, port } = settings
    const embedded = postgres instanceof HostedPostgres ? await postgres.settings(ended.signal) : {}
    // An operator of rows cannot run without a server that has them.
    const running = operators.filter(({ config }) => postgres !== 'unavailable' || config['dbHost'] === undefined)
    let isReady = false
    await runOperators(
      {
        operators: running.map((operator) => embeddedOperator(operator, { ...settings, ...embedded })),
        transport: plane.transport,
        log,
        metrics: await createMetrics(),
        webhooks,
        identity,
        leaderElection: { isEnded: (former) => plane.isEnded(former) },
        onReady: (leading) => {
          isReady = true
          say(`Ready           ${describeStanding(leading)}`)
        },
        onLeading: (operator, isLeading) => {
          if (isReady && !ended.signal.aborted)
            say(`${operator}: ${isLeading ? 'this process leads now' : 'this process no longer leads'}`)
        },
        servers: [
          httpServer({
            ...httpServerSettings(settings),
            page,
            extend: dashboard,
            address: `${host}:${port ?? DEFAULT_PORT}`,
            whenTaken: port === undefined ? 'next' : 'fail',
            onListening: ({ url, instead }) => {
              if (instead !== undefined) say(`Port ${instead} is taken; using the next that is free.`)
              say(`HTTP API        ${url}`)
              say(`Dashboard       ${url}/`)
            },
          }),
          ownServers({
            sharedPort: port ?? DEFAULT_PORT,
            whenTaken: ({ address }) => (embeddedDefaults(operators).has(address) ? 'next' : 'fail'),
            onListening: ({ name }, { url, instead }) => {
              if (instead !== undefined) say(`Port ${instead} is taken; using the next that is free.`)
              say(`${nameColumn(name)}${url}`)
            },
          }),
        ],
      },
      ended.signal,
    )
  }
}

/** The name of a server as the first column of a line. */
function nameColumn(name: OwnServer['name']): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`.padEnd(16)
}

/** `applications and leases run here`, or which of them another process runs. */
function describeStanding(leading: Readonly<Record<string, boolean>>): string {
  const names = (isLeading: boolean): string =>
    Object.keys(leading)
      .filter((name) => leading[name] === isLeading)
      .join(', ')
  const standby = names(false) && `another process leads ${names(false)}, this one stands by`
  return [names(true) && `this process leads ${names(true)}`, standby].filter(Boolean).join('; ')
}
