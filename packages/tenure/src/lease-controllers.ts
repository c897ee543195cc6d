import { loadConfig } from '@tenure/kube'
import {
  LEASE_OPERATOR,
  LEASE_WEBHOOK_SECRET,
  leaseAdmissionTable,
  leaseAnnotationsWebhook,
  leaseControllersOperator,
  leaseControllersOptions,
  leaseControllersTable,
  leaseFamilies,
} from '@tenure/leases'
import { createLogger, defineConfiguration } from '@tenure/runtime'
import type { Table, Values } from '@tenure/runtime'
import { webhookConfig } from '@tenure/runtime/configuration'
import { clusterWebhooks } from './cluster-webhooks.ts'
import { runOperators } from './run-operators.ts'

/** Where webhooks are served is said alike for all operators. */
const { webhookPort, webhookServiceName, webhookServiceNamespace, webhookUrl, webhookSecret } = webhookConfig

const table = {
  ...leaseControllersTable,
  ...leaseAdmissionTable,
  leaderElect: {
    type: 'boolean',
    default: true,
    environment: 'LEASE_LEADER_ELECTION',
    meaning: 'Let one of several replicas lead.',
  },
  podName: {
    type: 'string',
    meaning: 'Who this process is, in the Lease of the election. Without it: the host name and a random part.',
  },
  installDefinitions: {
    type: 'boolean',
    default: true,
    meaning: 'Install and upgrade the CustomResourceDefinition at the start. Without it: wait until it is there.',
  },
  metricsBindAddress: { type: 'address', default: ':8080', meaning: 'Where /metrics is served; 0 for nowhere.' },
  healthProbeBindAddress: {
    type: 'address',
    default: ':8081',
    meaning: 'Where /livez and /readyz are served; 0 for nowhere.',
  },
  webhookPort,
  webhookServiceName: { ...webhookServiceName, default: LEASE_OPERATOR },
  webhookServiceNamespace,
  webhookUrl,
  webhookSecret: { ...webhookSecret, default: LEASE_WEBHOOK_SECRET },
} as const satisfies Table

/** What `tenure lease-controllers` can be told. */
export const leaseControllersConfiguration = defineConfiguration({
  program: 'tenure lease-controllers',
  summary: 'Runs a lease controller for every kind that a LeaseController names.',
  options: table,
})

const LEADER = 'object-lease-operator-leader'

/** Runs the operator of LeaseControllers on the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runLeaseControllers(values: Values<typeof table>, signal: AbortSignal): Promise<void> {
  const log = await createLogger({ level: 'info', format: 'json' })
  const config = await loadConfig()
  const operator = leaseControllersOperator({
    ...leaseControllersOptions(values),
    definition: {
      install: values.installDefinitions,
      manifest: 'deploy/crds/leasecontrollers.object-lease-controller.ullberg.us.yaml',
    },
  })
  await runOperators(
    {
      name: LEASE_OPERATOR,
      operators: [operator],
      config,
      log,
      probes: values.healthProbeBindAddress,
      metricsAddress: values.metricsBindAddress,
      ...(values.leaderElect && { leaderElection: { name: LEADER, identity: values.podName } }),
      ...(values.leaseAdmission &&
        clusterWebhooks(
          {
            name: LEASE_OPERATOR,
            webhooks: [leaseAnnotationsWebhook({ families: leaseFamilies(values) })],
            namespace: config.namespace,
          },
          values,
          log,
        )),
    },
    signal,
  )
}
