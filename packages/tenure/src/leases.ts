import { loadConfig } from '@tenure/kube'
import { leaderName, leasedKind, leaseSettings, leasesOperator, reportLease } from '@tenure/leases'
import type { LeasesValues } from '@tenure/leases'
import { createLogger } from '@tenure/runtime'
import { runOperators } from './run-operators.ts'

/** Keeps the leases of one kind on the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runLeases(values: LeasesValues, signal: AbortSignal): Promise<void> {
  const log = await createLogger({ level: 'info', format: 'json' })
  const config = await loadConfig()
  const kind = leasedKind(values)
  const operator = leasesOperator({
    kind,
    settings: leaseSettings(values),
    concurrency: values.concurrency,
    report: values.report === undefined ? undefined : reportLease(values.report),
  })
  const namespace = values.leaderElectNamespace ?? config.namespace
  await runOperators(
    {
      name: 'object-lease-controller',
      operators: [operator],
      config,
      log,
      probes: values.healthProbeBindAddress,
      metricsAddress: values.metricsBindAddress,
      ...(values.leaderElect && {
        leaderElection: { name: leaderName(kind), namespace, identity: process.env['POD_NAME'] || undefined },
      }),
    },
    signal,
  )
}
