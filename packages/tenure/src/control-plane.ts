import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ControlPlane, HostedServer } from '@tenure/controlplane'
import { joinOrHost, startControlPlane } from '@tenure/controlplane'
import type { Transport } from '@tenure/kube'
import { asError, HttpTransport, loadConfig, systemClock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { defineConfiguration } from '@tenure/runtime/configuration'
import { describePortHolder, findPort } from '@tenure/runtime/health'
import type { HostedWebhooks } from './hosted-webhooks.ts'
import { logTable } from './log-settings.ts'
import { createDataDirectory } from './start/data-directory.ts'
import { SwitchingTransport } from './switching-transport.ts'

/** The usual port of a Kubernetes API. */
const DEFAULT_PORT = 6443
/** The API server of this machine's users only. */
const HOST = '127.0.0.1'

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

/** The control plane that serves a data directory. */
export interface ServingControlPlane {
  readonly url: string
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  /** The process that hosts it. */
  readonly pid: number
  /** Whether this process does. */
  readonly isHosted: boolean
}

/** A service of the process that hosts the control plane; it begins and ends with it. */
export interface HostedService {
  start(): Promise<{ stop(): Promise<void> }>
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
  const { log, say } = settings
  const directory = await createDataDirectory(settings.directory)
  const failed = Promise.withResolvers<never>()
  // A caller that does not wait for `failed` sees the next request fail; this handler avoids an unhandled rejection.
  failed.promise.catch(() => undefined)
  const transport = new SwitchingTransport()
  const { operators } = settings
  const admitted = Promise.withResolvers<void>()
  let remote: HttpTransport | undefined
  let hosted: Transport | undefined
  let ended: readonly string[] = []

  const reach = async (kubeconfigPath: string): Promise<void> => {
    const config = await loadConfig({ kubeconfigPath, env: {} })
    remote = new HttpTransport({ ...config, impersonate: OPERATOR }, { userAgent: 'tenure' })
    // Unless the host is already gone and this process has taken over.
    if (!hosted) transport.switchTo(remote)
  }
  const member = await joinOrHost({
    directory,
    identity: operators?.identity,
    clock: systemClock,
    log,
    start: async ({ address, former }) => {
      // Before anything starts: a taken port must leave nothing behind.
      const port = await choosePort(settings, { address, former: former?.url })
      // Beside the control plane, not after it.
      const services = startServices(settings.services ?? [])
      const plane = await startControlPlane({
        directory,
        host: HOST,
        port,
        log,
        ...(operators && { admitted: admitted.promise }),
      }).catch(async (error: unknown) => {
        await services.stop()
        throw error
      })
      hosted = plane.transportFor({ user: { name: OPERATOR.user, groups: OPERATOR.groups } })
      return withServices(hostedServer(plane, directory), services)
    },
    onChange: (membership) => {
      if (membership.state === 'taking over') say(`The host (pid ${membership.former.pid}) is gone: taking over.`)
      if (membership.state === 'failed') failed.reject(membership.error)
      if (membership.state === 'hosting' || membership.state === 'joined')
        settings.onServing({ ...membership.host, isHosted: membership.state === 'hosting' })
      if (membership.state === 'hosting') {
        ended = membership.host.ended ?? []
        transport.switchTo(hosted)
        void remote?.close()
        void operators?.webhooks.host(() => admitted.resolve()).catch((error: unknown) => failed.reject(asError(error)))
      }
      // A host without operators serves no webhooks.
      if (membership.state === 'joined' && membership.host.identity === undefined) void operators?.webhooks.host()
    },
    signal,
  })
  const { membership } = member
  if (membership.state === 'joined') await reach(membership.host.kubeconfig)
  return {
    transport,
    failed: failed.promise,
    isEnded: (identity) => ended.includes(identity),
    async close() {
      await transport.close()
      await remote?.close()
      await member.close()
    },
  }
}

/** Services that start together. `stop` also stops those that have not finished their start. */
interface StartingServices {
  readonly started: Promise<unknown>
  stop(): Promise<void>
}

function startServices(services: readonly HostedService[]): StartingServices {
  const starting = services.map((service) => service.start())
  const started = Promise.all(starting)
  // The caller waits for it after the control plane has started.
  started.catch(() => undefined)
  return {
    started,
    async stop() {
      const settled = await Promise.allSettled(starting)
      const running = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      await Promise.all(running.map((service) => service.stop()))
    },
  }
}

/** The server, closed after its services. Rejects if one of them did not start. */
async function withServices(server: HostedServer, services: StartingServices): Promise<HostedServer> {
  try {
    await services.started
  } catch (error) {
    await services.stop()
    await server.close()
    throw error
  }
  return {
    ...server,
    close: async () => {
      await services.stop()
      await server.close()
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

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

interface FormerAddresses {
  /** The address that clients of this moment use: it must be used. */
  readonly address: string | undefined
  /** The address of the previous run: it is preferred. */
  readonly former: string | undefined
}

/** The port of the API server: after a takeover the same, then the requested one, the previous one, or the next free one. */
async function choosePort(
  { port: requested, say }: ControlPlaneSettings,
  { address, former }: FormerAddresses,
): Promise<number> {
  const fixed = portOf(address) ?? requested
  const wanted = fixed ?? portOf(former) ?? DEFAULT_PORT
  const found = await findPort(`${HOST}:${wanted}`, {
    what: 'the Kubernetes API',
    setting: 'TENURE_KUBERNETES_PORT',
    whenTaken: fixed === undefined ? 'next' : 'fail',
  })
  const port = found ?? 0
  if (port !== wanted)
    say(`Port ${wanted} of the Kubernetes API is taken by ${await describePortHolder(wanted)}; using ${port}.`)
  return port
}

/** Writes the kubeconfig of a control plane that serves. */
function hostedServer(plane: ControlPlane, directory: string): HostedServer {
  const { url, kubeconfig } = plane
  if (url === undefined || kubeconfig === undefined) throw new Error('The control plane has no address')
  const file = path.join(directory, 'kubeconfig')
  writeFileSync(file, kubeconfig, { mode: 0o600 })
  return { url, kubeconfig: file, close: () => plane.stop() }
}

function portOf(url: string | undefined): number | undefined {
  return url === undefined ? undefined : Number(new URL(url).port)
}
