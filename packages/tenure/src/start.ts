import path from 'node:path'
import { dashboard, page } from '@tenure/dashboard'
import { httpConfig, httpServer, httpServerSettings, isLoopback, ownServers, type OwnServer } from '@tenure/http'
import { asError, systemClock, systemRandom } from '@tenure/kube'
import { createMetrics, defaultIdentity, runOperators } from '@tenure/runtime'
import { defineConfiguration, type Table, type Values } from '@tenure/runtime/configuration'
import type { ServingControlPlane } from '@tenure/controlplane'
import { openControlPlane } from './control-plane.ts'
import { HostedPostgres } from './hosted-postgres.ts'
import { HostedWebhooks } from './hosted-webhooks.ts'
import { operators } from './loaded-operators.ts'
import { loggerOf, logTable } from '@tenure/runtime/cli'
import { configVariables } from './run-operator.ts'
import { say } from './say.ts'
import { embeddedAddresses, embeddedDefaults, embeddedOperator, embeddedTable } from './start-settings.ts'
import { checkStart, type TakenPort } from './start/checks.ts'
import { publishInstance } from './start/instances.ts'
import { nextSteps } from './start/next-steps.ts'
import { Progress } from './start/progress.ts'

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
  ...logTable,
} as const satisfies Table

export const startConfiguration = defineConfiguration({
  program: 'tenure start',
  summary: 'Start everything, with nothing installed: a Kubernetes API kept on disk, and all operators on it.',
  options: { ...embeddedTable(operators), ...table },
  configEnvironment: configVariables(operators),
})

export type StartSettings = Values<typeof table> & Values<Table>

/** Milliseconds that running work gets when the process stops: a person waits for it. */
const GRACE_PERIOD_MS = 3_000

/** The addresses in the order in which they are printed. */
const ADDRESSES = ['Dashboard', 'HTTP API', 'Claims API', 'Kubernetes API', 'PostgreSQL', 'kubeconfig']

/** Runs all operators on the embedded control plane until `signal` aborts. */
export async function start(settings: StartSettings, signal: AbortSignal): Promise<void> {
  const log = await loggerOf(settings)
  // Since the process began: that is what its user waits for.
  const progress = new Progress({ clock: systemClock, say }, 0)
  const taken = await checkStart(checksOf(settings))
  progress.done(`Checked the HTTP addresses and ${settings.data}`)
  const ended = new AbortController()
  const identity = defaultIdentity(systemRandom)
  const webhooks = new HostedWebhooks(ended.signal)
  const postgres = HostedPostgres.needed(settings, { directory: settings.data, log, say, progress })
  let serving: ServingControlPlane | undefined
  const onServing = (now: ServingControlPlane): void => {
    serving = now
    progress.done(now.isHosted ? 'Started the Kubernetes API' : `Joined the Kubernetes API of process ${now.pid}`)
    progress.address('Kubernetes API', now.isHosted ? now.url : `${now.url}, hosted by pid ${now.pid}; joined it`)
    progress.address('kubeconfig', now.kubeconfig)
  }
  const plane = await openControlPlane(
    {
      directory: settings.data,
      port: settings.kubernetesPort,
      log,
      say,
      onServing,
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
  let withdraw: Promise<() => Promise<void>> | undefined
  const running = runAll()
  try {
    await Promise.race([failed, running])
  } finally {
    ended.abort()
    signal.removeEventListener('abort', stop)
    // The operators end first: another process may take the Leases of a host that has left the data directory.
    await running.catch(() => undefined)
    await withdraw?.then((end) => end()).catch((error: unknown) => log.debug('instance file remains', { error }))
    await plane.close()
  }

  async function runAll(): Promise<void> {
    const { host, port } = settings
    const embedded = postgres instanceof HostedPostgres ? await postgres.settings(ended.signal) : {}
    // An operator of rows cannot run without a server that has them.
    const running = operators.filter(({ config }) => postgres !== 'unavailable' || config['dbHost'] === undefined)
    const urls = { http: '', claims: '' }
    await runOperators(
      {
        operators: running.map((operator) => embeddedOperator(operator, { ...settings, ...embedded })),
        transport: plane.transport,
        log,
        metrics: await createMetrics(),
        webhooks,
        identity,
        gracePeriod: GRACE_PERIOD_MS,
        leaderElection: { isEnded: (former) => plane.isEnded(former) },
        onReady: (leading) => {
          const { http, claims } = urls
          withdraw = publishInstance(path.resolve(settings.data), { pid: process.pid, http, claims: claims || http })
          withdraw.catch((error: unknown) => log.warn('addresses were not published', { error: asError(error) }))
          progress.ready(
            ADDRESSES,
            describeStanding(leading),
            nextSteps({
              data: settings.data,
              kubeconfig: serving?.kubeconfig ?? '',
              http,
              tokenHost: tokenHost(settings),
              isNpx: process.env['npm_lifecycle_event'] === 'npx',
            }),
          )
        },
        onLeading: (operator, isLeading) => {
          if (isLeading) progress.done(`Started ${operator}`)
          if (progress.isReady && !ended.signal.aborted)
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
              urls.http = url
              progress.address('HTTP API', `${url}${insteadOf(instead, taken)}`)
              progress.address('Dashboard', `${url}/`)
            },
          }),
          ownServers({
            sharedPort: port ?? DEFAULT_PORT,
            whenTaken: ({ address }) => (embeddedDefaults(operators).has(address) ? 'next' : 'fail'),
            onListening: ({ name }, { url, instead }) => {
              if (name === 'claims API') urls.claims = url
              progress.address(nameColumn(name), `${url}${insteadOf(instead, taken)}`)
            },
          }),
        ],
      },
      ended.signal,
    )
  }
}

function checksOf(settings: StartSettings): Parameters<typeof checkStart>[0] {
  const { data: directory, host, port } = settings
  const { tls } = httpServerSettings(settings)
  const shared = {
    what: 'the HTTP API',
    setting: 'PORT',
    hostSetting: 'LISTEN_HOST',
    address: `${host}:${port ?? DEFAULT_PORT}`,
    whenTaken: port === undefined ? ('next' as const) : ('fail' as const),
  }
  return { program: 'tenure start', directory, tls, addresses: [shared, ...embeddedAddresses(operators, settings)] }
}

/** The host that callers reach only with a token; undefined if they need none. */
function tokenHost({ auth, host }: StartSettings): string | undefined {
  return auth === 'token' || (auth === 'auto' && !isLoopback(host)) ? host : undefined
}

function insteadOf(instead: number | undefined, taken: readonly TakenPort[]): string {
  if (instead === undefined) return ''
  const holder = taken.find(({ port }) => port === instead)?.holder ?? 'another program'
  return ` (port ${instead} is taken by ${holder})`
}

/** `Claims API` for `claims API`. */
function nameColumn(name: OwnServer['name']): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
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
