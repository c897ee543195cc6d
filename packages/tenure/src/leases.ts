import { leases, type LeasesSettings } from '@tenure/leases'
import { configure, createLogger, runOperators } from '@tenure/runtime'

/** Manages the leases of one kind on the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runLeases(settings: LeasesSettings, signal: AbortSignal): Promise<void> {
  await runOperators(
    {
      operators: [configure(leases, settings)],
      log: await createLogger({ level: settings.logLevel, format: settings.logFormat }),
      probes: settings.healthProbeBindAddress,
      metricsAddress: settings.metricsBindAddress,
      leaderElection: { whenLost: 'stop' },
    },
    signal,
  )
}
