import { applications, type ApplicationsSettings } from '@tenure/applications'
import { httpServer, httpServerSettings } from '@tenure/http'
import { configure, createLogger, createMetrics, runOperators } from '@tenure/runtime'
import { defineConfiguration } from '@tenure/runtime/configuration'

export const applicationsConfiguration = defineConfiguration({
  program: 'tenure applications',
  summary: applications.summary,
  options: applications.config,
  configEnvironment: 'CONFIG_FILE',
})

/** Runs the applications operator against the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runApplications(settings: ApplicationsSettings, signal: AbortSignal): Promise<void> {
  const address = `${settings.host}:${settings.port}`
  await runOperators(
    {
      operators: [configure(applications, settings)],
      servers: [httpServer({ ...httpServerSettings(settings), address })],
      log: await createLogger({ level: settings.logLevel, format: settings.logFormat }),
      metrics: await createMetrics(),
    },
    signal,
  )
}
