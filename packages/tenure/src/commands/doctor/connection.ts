import { ApiError, asError, explainStartupFailure } from '@tenure/kube'
import { roughDuration } from '@tenure/runtime/cli'
import type { ClusterContext } from '../cluster/context.ts'
import { type Finding, Findings } from './finding.ts'

/** The chart's lower bound. */
const OLDEST_MINOR = 28
/** Milliseconds of clock skew that leases and countdowns show. */
const NOTED_SKEW_MS = 5_000
/** Milliseconds at which tokens and certificates begin to fail, and leases end at other times than shown. */
const MAX_SKEW_MS = 60_000

export interface ConnectionCheck {
  readonly findings: readonly Finding[]
  /** The API server answered. */
  readonly isConnected: boolean
}

/** Checks the kubeconfig, the API server, its version and the clock. */
export async function checkConnection({ api, clock, config }: ClusterContext): Promise<ConnectionCheck> {
  const kubeconfig = new Findings('kubeconfig')
  const server = new Findings('API server')
  const time = new Findings('clock')
  const all = (): readonly Finding[] => [...kubeconfig.all, ...server.all, ...time.all]
  kubeconfig.ok(`${config.origin} leads to ${config.server}.`)
  const before = clock.now()
  try {
    const { headers, value } = await api.requester.json({
      verb: 'raw',
      method: 'GET',
      path: '/version',
      idempotent: true,
    })
    checkVersion(server, value ?? {})
    checkClock(time, headers['date'], before, clock.now())
    return { findings: all(), isConnected: true }
  } catch (error) {
    const advice =
      error instanceof ApiError
        ? 'Log in again, or use another context with --context.'
        : 'Is the cluster running, and is the address right? kubectl cluster-info uses the same kubeconfig.'
    server.problem(error instanceof ApiError ? explainStartupFailure(error, config) : asError(error).message, advice)
    return { findings: all(), isConnected: false }
  }
}

function checkVersion(found: Findings, { gitVersion = '' }: { readonly gitVersion?: string }): void {
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(gitVersion) ?? []
  if (major === undefined || minor === undefined)
    return found.note(`The API server says that its version is ${JSON.stringify(gitVersion)}.`)
  if (Number(major) === 1 && Number(minor) < OLDEST_MINOR)
    return found.problem(
      `Kubernetes ${gitVersion} is too old.`,
      `Use 1.${OLDEST_MINOR} or newer; docs/versioning.md has the versions that are tested.`,
    )
  found.ok(`Kubernetes ${gitVersion} answers.`)
}

function checkClock(found: Findings, header: unknown, before: number, after: number): void {
  const server = typeof header === 'string' ? Date.parse(header) : Number.NaN
  if (Number.isNaN(server)) return found.note('The API server did not say what time it is.')
  // The header has whole seconds, and the response took a while.
  const isLate = before > server + 1_000
  const skew = isLate ? before - server - 1_000 : Math.max(server - after, 0)
  const text = `The clock of this machine is ${roughDuration(skew)} ${isLate ? 'ahead of' : 'behind'} that of the API server`
  if (skew >= MAX_SKEW_MS)
    found.problem(`${text}.`, 'Synchronize the clock (NTP) of this machine, or of the control plane.')
  else if (skew >= NOTED_SKEW_MS) found.note(`${text}: countdowns differ by that.`)
  else found.ok('The clock agrees with that of the API server.')
}
