import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { describePortHolder, findPort } from '@tenure/runtime/health'
import { type ControlPlane, startControlPlane } from '../control-plane.ts'
import { PRIVATE_FILE } from '../durable-files.ts'
import { type HostedServer, joinOrHost, type Membership } from './join.ts'
import { type HostedService, startServices, withServices } from './services.ts'

/** The API server of this machine's users only. */
const HOST = '127.0.0.1'

export interface PortOptions {
  /** The requested port; undefined: the port of the last run, or the usual one. */
  readonly port: number | undefined
  /** The usual port, or the next free one; 0: any free port. */
  readonly usualPort: number
  /** Name of the setting of the port, for messages. */
  readonly portSetting: string
  /** Prints a line for people. */
  readonly say: (line: string) => void
}

export interface OpenDirectoryOptions extends PortOptions {
  readonly directory: string
  readonly log: Logger
  /** Identity of this process in Leases. Default: none, it runs no operators. */
  readonly identity?: string | undefined
  /** Requests over HTTPS wait for this on a host. Default: nothing. */
  readonly admitted?: Promise<void> | undefined
  /** Services that the host runs beside the control plane. Default: none. */
  readonly services?: readonly HostedService[]
  /** Called with the control plane of this process, before others learn of it. */
  readonly onStarted?: (plane: ControlPlane) => void
  /** Called when a control plane serves the directory: this process's own, or the one that it has joined. */
  readonly onServing: (serving: ServingControlPlane) => void
  /** Called after each state change. */
  readonly onChange?: (membership: Membership) => void
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

/** The control plane of a data directory, hosted by this process or another. */
export interface OpenDirectory {
  /** The state in which the directory was opened. */
  readonly membership: Membership
  /** Rejects when the control plane is no longer available. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/** Hosts the control plane of the data directory, or joins its host and takes over when that one is gone. */
export async function openDirectory(options: OpenDirectoryOptions, signal: AbortSignal): Promise<OpenDirectory> {
  const { admitted, directory, identity, log, onServing, say } = options
  const failed = Promise.withResolvers<never>()
  // A caller that does not wait for `failed` sees the next request fail; this handler avoids an unhandled rejection.
  failed.promise.catch(() => undefined)
  const member = await joinOrHost({
    directory,
    identity,
    clock: systemClock,
    log,
    start: async ({ address, former }) => {
      // Before anything starts: a taken port must leave nothing behind.
      const port = await choosePort(options, { address, former: former?.url })
      // Beside the control plane, not after it.
      const services = startServices(options.services ?? [])
      const plane = await startControlPlane({ directory, host: HOST, port, log, admitted }).catch(
        async (error: unknown) => {
          await services.stop()
          throw error
        },
      )
      options.onStarted?.(plane)
      return withServices(hostedServer(plane, directory), services)
    },
    onChange: (membership) => {
      if (membership.state === 'taking over') say(`The host (pid ${membership.former.pid}) is gone: taking over.`)
      if (membership.state === 'failed') failed.reject(membership.error)
      if (membership.state === 'hosting' || membership.state === 'joined')
        onServing({ ...membership.host, isHosted: membership.state === 'hosting' })
      options.onChange?.(membership)
    },
    signal,
  })
  return { membership: member.membership, failed: failed.promise, close: () => member.close() }
}

interface FormerAddresses {
  /** The address that clients of this moment use: it must be used. */
  readonly address?: string | undefined
  /** The address of the previous run: it is preferred. */
  readonly former?: string | undefined
}

/** The port of the API server: after a takeover the same, then the requested one, the previous one, or the next free one. */
export async function choosePort(
  { port: requested, portSetting, say, usualPort }: PortOptions,
  { address, former }: FormerAddresses = {},
): Promise<number> {
  const fixed = portOf(address) ?? requested
  const wanted = fixed ?? portOf(former) ?? usualPort
  const found = await findPort(`${HOST}:${wanted}`, {
    what: 'the Kubernetes API',
    setting: portSetting,
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
  writeFileSync(file, kubeconfig, { mode: PRIVATE_FILE })
  return { url, kubeconfig: file, close: () => plane.stop() }
}

function portOf(url: string | undefined): number | undefined {
  return url === undefined ? undefined : Number(new URL(url).port)
}
