import { leaseControllers, type LeaseControllersSettings } from '@tenure/leases'
import { configure, createLogger, runOperators } from '@tenure/runtime'
import { defineConfiguration } from '@tenure/runtime/configuration'

export const leaseControllersConfiguration = defineConfiguration({
  program: 'tenure lease-controllers',
  summary: leaseControllers.summary,
  options: leaseControllers.config,
})

/** Runs the operator of LeaseControllers on the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runLeaseControllers(settings: LeaseControllersSettings, signal: AbortSignal): Promise<void> {
  await runOperators(
    {
      operators: [configure(leaseControllers, settings)],
      log: await createLogger({ level: settings.logLevel, format: settings.logFormat }),
      probes: settings.healthProbeBindAddress,
      metricsAddress: settings.metricsBindAddress,
      leaderElection: { whenLost: 'stop' },
    },
    signal,
  )
}
