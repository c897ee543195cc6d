import { writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { ControlPlane, HostedServer, Member } from '@tenure/controlplane'
import { joinOrHost, startControlPlane } from '@tenure/controlplane'
import type { Transport } from '@tenure/kube'
import { asError, HttpTransport, loadConfig, systemClock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { defineConfiguration } from '@tenure/runtime/configuration'
import type { HostedWebhooks } from './hosted-webhooks.ts'
import { SwitchingTransport } from './switching-transport.ts'

/** The usual port of a Kubernetes API. */
const DEFAULT_PORT = 6443
/** Number of ports to try after the usual one if no port is set. */
const MAX_PORTS_TRIED = 20

export const controlPlaneConfiguration = defineConfiguration({
  program: 'tenure controlplane',
  summary: 'Runs the embedded control plane alone.',
  options: {
    data: { type: 'string', default: '.tenure', environment: 'TENURE_DATA', meaning: 'Where everything is kept.' },
    port: {
      type: 'integer',
      min: 0,
      max: 65_535,
      environment: 'TENURE_KUBERNETES_PORT',
      meaning: 'Port of the Kubernetes API. Default: 6443, or the next that is free.',
    },
    verbose: { type: 'boolean', default: false, meaning: 'Log what happens.' },
  },
})

export interface ControlPlaneSettings {
  /** Directory of the data. */
  readonly directory: string
  /** The requested port; undefined: the usual one, or the next free port. */
  readonly port: number | undefined
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
  const directory = path.resolve(settings.directory)
  await mkdir(directory, { recursive: true, mode: 0o700 })
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
      // Beside the control plane, not after it.
      const services = Promise.all((settings.services ?? []).map((service) => service.start()))
      services.catch(() => undefined)
      const start = (port: number): Promise<ControlPlane> =>
        startControlPlane({ directory, port, log, ...(operators && { admitted: admitted.promise }) })
      const before = portOf(address ?? former?.url)
      const { server, plane } = await host({ ...settings, directory, start, before, isFixed: address !== undefined })
      hosted = plane.transportFor({ user: { name: OPERATOR.user, groups: OPERATOR.groups } })
      return withServices(server, services)
    },
    onChange: (membership) => {
      if (membership.state === 'taking over') say(`The host (pid ${membership.former.pid}) is gone: taking over.`)
      if (membership.state === 'failed') failed.reject(membership.error)
      if (membership.state === 'hosting' || membership.state === 'joined') describe(membership, say)
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

/** The server, closed after its services. Rejects if one of them did not start. */
async function withServices(
  server: HostedServer,
  starting: Promise<readonly { stop(): Promise<void> }[]>,
): Promise<HostedServer> {
  try {
    const services = await starting
    return {
      ...server,
      close: async () => {
        await Promise.all(services.map((service) => service.stop()))
        await server.close()
      },
    }
  } catch (error) {
    await server.close()
    throw error
  }
}

/** Hosts or joins until `signal` aborts. */
export async function runControlPlane(settings: ControlPlaneSettings, signal: AbortSignal): Promise<void> {
  const open = await openControlPlane(settings, signal)
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

function describe(
  membership: Extract<Member['membership'], { state: 'hosting' | 'joined' }>,
  say: (line: string) => void,
): void {
  const { url, kubeconfig, pid } = membership.host
  say(
    membership.state === 'hosting'
      ? `Kubernetes API  ${url}`
      : `Kubernetes API  ${url}, hosted by pid ${pid}; joined it`,
  )
  say(`kubeconfig      ${kubeconfig}`)
  say(`try             kubectl --kubeconfig ${kubeconfig} get nodes`)
}

interface HostOptions extends ControlPlaneSettings {
  /** The previous port. */
  readonly before: number | undefined
  /** Whether the previous port must be used. */
  readonly isFixed: boolean
  readonly start: (port: number) => Promise<ControlPlane>
}

/**
 * Starts the control plane at the required port (after a takeover), the requested one, its previous one, or the next
 * free one.
 */
async function host({ before, directory, isFixed, start, ...settings }: HostOptions): Promise<{
  readonly server: HostedServer
  readonly plane: ControlPlane
}> {
  const first = (isFixed ? before : undefined) ?? settings.port ?? before ?? DEFAULT_PORT
  const last = isFixed || settings.port !== undefined ? first : first + MAX_PORTS_TRIED
  for (let port = first; ; port++) {
    try {
      const plane = await start(port)
      const { url, kubeconfig } = plane
      if (url === undefined || kubeconfig === undefined) throw new Error('The control plane has no address')
      const file = path.join(directory, 'kubeconfig')
      writeFileSync(file, kubeconfig, { mode: 0o600 })
      return { server: { url, kubeconfig: file, close: () => plane.stop() }, plane }
    } catch (error) {
      if (!isTaken(error) || port >= last) throw error
      if (port === first) settings.say(`Port ${port} is taken; trying the next ones.`)
    }
  }
}

/** Returns true if `error` or its cause is a taken port. */
function isTaken(error: unknown): boolean {
  const { code, cause } = asError(error) as NodeJS.ErrnoException
  return code === 'EADDRINUSE' || code === 'TENURE_PORT_TAKEN' || (cause !== undefined && isTaken(cause))
}

function portOf(url: string | undefined): number | undefined {
  return url === undefined ? undefined : Number(new URL(url).port)
}
