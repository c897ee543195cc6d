import { applicationsOperator, applicationsTable, imagePolicyOf, LEADER_LEASE, OPERATOR } from '@tenure/applications'
import {
  defaultLeaseControllers,
  defaultLeaseSettings,
  familiesTable,
  leaseAdmissionTable,
  leaseAnnotationsWebhook,
  leaseControllersOperator,
  leaseFamilies,
} from '@tenure/leases'
import { createLogger, defineConfiguration } from '@tenure/runtime'
import type { Table, Values } from '@tenure/runtime'
import { asError } from '@tenure/kube'
import { openControlPlane } from './control-plane.ts'
import { leaderWebhooks } from './leader-webhooks.ts'
import { httpOptions, runOperators } from './run-operators.ts'
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
} = applicationsTable

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
  ...familiesTable,
  ...leaseAdmissionTable,
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

  function runOnIt(): Promise<void> {
    const isElected = settings.enableLeaderElection
    const identity = settings.podName
    const applications = applicationsOperator({
      ...settings,
      policy: imagePolicyOf(settings),
      policyOnRest: settings.imagePolicyOnRest,
      // Whoever stops this process goes on using what is kept, and no write must wait for a webhook that is not there.
      failurePolicy: 'Ignore',
      identity,
      lease: isElected ? { name: LEADER_LEASE } : undefined,
    })
    const families = leaseFamilies(settings)
    const webhooks = [
      ...(settings.webhooks ? applications.webhooks : []),
      ...(settings.leaseAdmission ? [leaseAnnotationsWebhook({ families })] : []),
    ]
    const leases = leaseControllersOperator({
      defaultMode: 'shared',
      defaults: defaultLeaseControllers,
      settings: { ...defaultLeaseSettings, families },
    })
    return runOperators(
      {
        name: OPERATOR,
        operators: [applications, leases],
        transport: plane.transport,
        log,
        http: {
          ...httpOptions(settings),
          address: `${settings.host}:${settings.port ?? USUAL_PORT}`,
          whenTaken: settings.port === undefined ? 'next' : 'fail',
          onListening: ({ url, instead }) => {
            if (instead !== undefined) say(`Port ${instead} is taken; using the next that is free.`)
            say(`HTTP API        ${url}`)
          },
        },
        ...(isElected && { leaderElection: { name: LEADER_LEASE, identity, whenLost: 'campaign' as const } }),
        components: webhooks.length > 0 ? [leaderWebhooks(OPERATOR, webhooks)] : [],
      },
      ended.signal,
    )
  }
}
