import { type HostedService, openDirectory, type ServingControlPlane } from '@tenure/controlplane'
import type { Transport } from '@tenure/kube'
import { asError, HttpTransport, loadConfig } from '@tenure/kube'
import { type Logger, whenAborted } from '@tenure/runtime'
import { defineConfiguration } from '@tenure/runtime/configuration'
import type { HostedWebhooks } from './hosted-webhooks.ts'
import { logTable } from '@tenure/runtime/cli'
import { createDataDirectory } from './start/data-directory.ts'
import { SwitchingTransport } from './switching-transport.ts'

/** The usual port of a Kubernetes API. */
const USUAL_PORT = 6443

export const controlPlaneConfiguration = defineConfiguration({
  program: 'tenure controlplane',
  summary: 'Run the embedded control plane alone.',
  options: {
    data: { type: 'string', default: '.tenure', environment: 'TENURE_DATA', meaning: 'Where everything is kept.' },
    port: {
      type: 'integer',
      min: 0,
      max: 65_535,
      environment: 'TENURE_KUBERNETES_PORT',
      meaning: 'Port of the Kubernetes API. Default: 6443, or the next that is free.',
    },
    ...logTable,
  },
})

export interface ControlPlaneSettings {
  /** Directory of the data. */
  readonly directory: string
  /** The requested port; undefined: the usual one, or the next free port. */
  readonly port: number | undefined
  /** Called when a control plane serves: this process's own, or the one that it has joined. */
  readonly onServing: (serving: ServingControlPlane) => void
  readonly log: Logger
  /** The operators of this process. Default: none, the control plane runs alone. */
  readonly operators?: {
    /** Identity of this process in Leases. */
    readonly identity: string
    readonly webhooks: HostedWebhooks
  }
  /** Services that the host runs beside the control plane. Default: none. */
  readonly services?: readonly HostedService[]
  /** Prints a line for people. */
  readonly say: (line: string) => void
}

/** A control plane that this process hosts, or another process with the same data directory. */
export interface OpenControlPlane {
  /** Reaches the current host, with the operators' own user. */
  readonly transport: Transport
  /** Rejects when the control plane is no longer available. */
  readonly failed: Promise<never>
  /** Whether the process of an identity was a host of this data directory and has ended. */
  isEnded(identity: string): boolean
  close(): Promise<void>
}

/** The user of the operators in webhooks and audit logs, which differs from the admin of kubectl. */
const OPERATOR = { user: 'tenure', groups: ['system:masters', 'system:authenticated'] }

/** Hosts the control plane of the data directory, or joins its host and takes over when that one is gone. */
export async function openControlPlane(settings: ControlPlaneSettings, signal: AbortSignal): Promise<OpenControlPlane> {
  const { log, onServing, operators, port, say, services } = settings
  const directory = await createDataDirectory(settings.directory)
  const transport = new SwitchingTransport()
  const admitted = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<never>()
  // A caller that does not wait for `failed` sees the next request fail; this handler avoids an unhandled rejection.
  failed.promise.catch(() => undefined)
  let remote: HttpTransport | undefined
  let hosted: Transport | undefined
  let ended: readonly string[] = []

  const reach = async (kubeconfigPath: string): Promise<void> => {
    const config = await loadConfig({ kubeconfigPath, env: {} })
    remote = new HttpTransport({ ...config, impersonate: OPERATOR }, { userAgent: 'tenure' })
    // Unless the host is already gone and this process has taken over.
    if (!hosted) transport.switchTo(remote)
  }
  const opened = await openDirectory(
    {
      directory,
      port,
      usualPort: USUAL_PORT,
      portSetting: 'TENURE_KUBERNETES_PORT',
      log,
      say,
      identity: operators?.identity,
      admitted: operators && admitted.promise,
      ...(services && { services }),
      onServing,
      onStarted: (plane) => {
        hosted = plane.transportFor({ user: { name: OPERATOR.user, groups: OPERATOR.groups } })
      },
      onChange: (membership) => {
        if (membership.state === 'hosting') {
          ended = membership.host.ended ?? []
          transport.switchTo(hosted)
          void remote?.close()
          void operators?.webhooks
            .host(() => admitted.resolve())
            .catch((error: unknown) => failed.reject(asError(error)))
        }
        // A host without operators serves no webhooks.
        if (membership.state === 'joined' && membership.host.identity === undefined) void operators?.webhooks.host()
      },
    },
    signal,
  )
  opened.failed.catch((error: unknown) => failed.reject(asError(error)))
  const { membership } = opened
  if (membership.state === 'joined') await reach(membership.host.kubeconfig)
  return {
    transport,
    failed: failed.promise,
    isEnded: (identity) => ended.includes(identity),
    async close() {
      await transport.close()
      await remote?.close()
      await opened.close()
    },
  }
}

/** Hosts or joins until `signal` aborts. */
export async function runControlPlane(
  settings: Omit<ControlPlaneSettings, 'onServing'>,
  signal: AbortSignal,
): Promise<void> {
  const { say } = settings
  const onServing = ({ url, kubeconfig, pid, isHosted }: ServingControlPlane): void => {
    say(`Kubernetes API  ${url}${isHosted ? '' : `, hosted by pid ${pid}; joined it`}`)
    say(`kubeconfig      ${kubeconfig}`)
    say(`try             kubectl --kubeconfig ${kubeconfig} get nodes`)
  }
  const open = await openControlPlane({ ...settings, onServing }, signal)
  try {
    await Promise.race([open.failed, whenAborted(signal)])
  } finally {
    await open.close()
  }
}
