import { applications } from '@tenure/applications'
import { httpServer, httpServerSettings } from '@tenure/http'
import { familiesConfig, leaseControllers } from '@tenure/leases'
import { configure, createLogger, createMetrics, runOperators } from '@tenure/runtime'
import { defaultValues, defineConfiguration } from '@tenure/runtime/configuration'
import type { Table, Values } from '@tenure/runtime/configuration'
import { asError } from '@tenure/kube'
import { openControlPlane } from './control-plane.ts'
import { say } from './say.ts'

/** What can be said of Applications on one machine; the rest of their table is for clusters. */
const {
  host,
  auth,
  tlsCertFile,
  tlsKeyFile,
  enableLeaderElection,
  podName,
  readyzLeaderOnly,
  concurrency,
  eventHistoryLimit,
  blockedBaseImages,
  allowedRegistries,
  imagePolicyOnRest,
  webhooks,
} = applications.config

const table = {
  data: { type: 'string', default: '.tenure', environment: 'TENURE_DATA', meaning: 'Where everything is kept.' },
  port: {
    type: 'integer',
    min: 0,
    max: 65_535,
    meaning: 'Port of the HTTP API, probes and metrics. Default: 3000, or the next that is free.',
  },
  kubernetesPort: {
    type: 'integer',
    min: 0,
    max: 65_535,
    // Kubernetes itself puts KUBERNETES_PORT into every container.
    environment: 'TENURE_KUBERNETES_PORT',
    meaning: 'Port of the Kubernetes API. Default: 6443, or the next that is free.',
  },
  createNamespaces: {
    type: 'boolean',
    default: true,
    meaning: 'Make the namespace that an Application is posted into, if there is none.',
  },
  verbose: { type: 'boolean', default: false, meaning: 'Log what happens.' },
  host,
  auth,
  tlsCertFile,
  tlsKeyFile,
  enableLeaderElection,
  podName,
  readyzLeaderOnly,
  concurrency,
  eventHistoryLimit,
  blockedBaseImages,
  allowedRegistries,
  imagePolicyOnRest,
  webhooks,
  ...familiesConfig,
  leaseAdmission: leaseControllers.config.leaseAdmission,
} as const satisfies Table

export const startConfiguration = defineConfiguration({
  program: 'tenure start',
  summary: 'Starts everything, with nothing installed: a Kubernetes API kept on disk, and all operators on it.',
  options: table,
  configEnvironment: 'CONFIG_FILE',
})

export type StartSettings = Values<typeof table>

const USUAL_PORT = 3000

/** Runs everything there is until `signal` aborts. */
export async function start(settings: StartSettings, signal: AbortSignal): Promise<void> {
  const log = await createLogger({ level: settings.verbose ? 'info' : 'warn', format: 'text' })
  const plane = await openControlPlane({ directory: settings.data, port: settings.kubernetesPort, log, say }, signal)
  const ended = new AbortController()
  const stop = (): void => ended.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const failed = plane.failed.catch((error: unknown) => {
    ended.abort(asError(error))
    throw error
  })
  try {
    await Promise.race([failed, runOnIt()])
  } finally {
    ended.abort()
    signal.removeEventListener('abort', stop)
    await plane.close()
  }

  async function runOnIt(): Promise<void> {
    const port = settings.port ?? USUAL_PORT
    const applicationsSettings = {
      ...defaultValues(applications.config),
      ...applications.embedded,
      ...settings,
      port,
    }
    const { enableLeaderElection, leaseAdmission, newerPrefix, podName, prefix } = settings
    const leaseSettings = {
      ...defaultValues(leaseControllers.config),
      ...leaseControllers.embedded,
      enableLeaderElection,
      leaseAdmission,
      newerPrefix,
      podName,
      prefix,
    }
    await runOperators(
      {
        operators: [configure(applications, applicationsSettings), configure(leaseControllers, leaseSettings)],
        transport: plane.transport,
        log,
        metrics: await createMetrics(),
        webhooks: 'loopback',
        servers: [
          httpServer({
            ...httpServerSettings(settings),
            address: `${settings.host}:${port}`,
            whenTaken: settings.port === undefined ? 'next' : 'fail',
            onListening: ({ url, instead }) => {
              if (instead !== undefined) say(`Port ${instead} is taken; using the next that is free.`)
              say(`HTTP API        ${url}`)
            },
          }),
        ],
      },
      ended.signal,
    )
  }
}
