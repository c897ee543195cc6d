import { writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { HostedServer, Member } from '@tenure/controlplane'
import { joinOrHost, startControlPlane } from '@tenure/controlplane'
import { asError, systemClock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'

/** Where people expect a Kubernetes API. */
const USUAL_PORT = 6443
/** How many ports after the usual one are tried, if nobody said which. */
const PORTS_TRIED = 20

export interface ControlPlaneSettings {
  /** Where everything is kept. */
  readonly directory: string
  /** The port that was asked for; undefined: the usual one, or the next that is free. */
  readonly port: number | undefined
  readonly log: Logger
  /** Tells a person something. */
  readonly say: (line: string) => void
}

/** Hosts the control plane of the data directory, or joins who does, until `signal` aborts. */
export async function runControlPlane(settings: ControlPlaneSettings, signal: AbortSignal): Promise<void> {
  const { log, say } = settings
  const directory = path.resolve(settings.directory)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const ended = Promise.withResolvers<void>()
  const member = await joinOrHost({
    directory,
    clock: systemClock,
    log,
    start: ({ address, former }) => host(settings, directory, portOf(address ?? former?.url), address !== undefined),
    onChange: (membership) => {
      if (membership.state === 'taking over') say(`The host (pid ${membership.former.pid}) is gone: taking over.`)
      if (membership.state === 'failed') ended.reject(membership.error)
      if (membership.state === 'hosting' || membership.state === 'joined') describe(membership, say)
    },
    signal,
  })
  signal.addEventListener('abort', () => ended.resolve(), { once: true })
  if (signal.aborted) ended.resolve()
  try {
    await ended.promise
  } finally {
    await member.close()
  }
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

/** Starts it at the port that must be (a take-over), that was asked for, that it had before, or the next free one. */
async function host(
  settings: ControlPlaneSettings,
  directory: string,
  before: number | undefined,
  isFixed: boolean,
): Promise<HostedServer> {
  const first = (isFixed ? before : undefined) ?? settings.port ?? before ?? USUAL_PORT
  const last = isFixed || settings.port !== undefined ? first : first + PORTS_TRIED
  for (let port = first; ; port++) {
    try {
      const plane = await startControlPlane({ directory, port, log: settings.log })
      const { url, kubeconfig } = plane
      if (url === undefined || kubeconfig === undefined) throw new Error('the control plane serves no address')
      const file = path.join(directory, 'kubeconfig')
      writeFileSync(file, kubeconfig, { mode: 0o600 })
      return { url, kubeconfig: file, close: () => plane.stop() }
    } catch (error) {
      if (!isTaken(error) || port >= last) throw error
      if (port === first) settings.say(`Port ${port} is taken; trying the next ones.`)
    }
  }
}

/** True if `error`, or what caused it, is that somebody else listens there. */
function isTaken(error: unknown): boolean {
  const { code, cause } = asError(error) as NodeJS.ErrnoException
  return code === 'EADDRINUSE' || code === 'TENURE_PORT_TAKEN' || (cause !== undefined && isTaken(cause))
}

function portOf(url: string | undefined): number | undefined {
  return url === undefined ? undefined : Number(new URL(url).port)
}
