import type { Stored } from '@tenure/kube'
import type { ContainerState, Pod, PodStatus } from '@tenure/kube/kinds'
import { type EventContent, formatDuration, rfc3339 } from '@tenure/runtime'
import { isFinished } from '../common/pods.ts'
import type { Containers } from './pod-status.ts'
import type { PodScript } from './simulation.ts'

/** Lifecycle stage of a pod, derived from its status so that a restart of the control plane loses nothing. */
export type PodStage =
  | 'new'
  | 'creating'
  | 'pull-failed'
  | 'pull-backoff'
  | 'running'
  | 'ready'
  | 'exited'
  | 'backoff'
  | 'over'
  | 'stopping'

/** The next change of a pod. `after` is in milliseconds. */
export type PodStep =
  | { readonly type: 'wait'; readonly after: number | undefined }
  | {
      readonly type: 'write'
      readonly phase: NonNullable<PodStatus['phase']>
      readonly containers: Containers
      readonly needsIP: boolean
      readonly events: readonly EventContent[]
    }
  | { readonly type: 'delete' }

const MIN_BACKOFF_MS = 10_000
const MAX_BACKOFF_MS = 300_000
/** Milliseconds for which the state of an exited container stays visible before the restart. */
const MIN_EXIT_DISPLAY_MS = 1_000

export function stageOf(pod: Stored<Pod>): PodStage {
  if (pod.metadata.deletionTimestamp) return 'stopping'
  if (isFinished(pod)) return 'over'
  const container = pod.status?.containerStatuses?.[0]
  if (!pod.status?.startTime || !container) return 'new'
  const { running, terminated, waiting } = container.state ?? {}
  if (running) return container.ready ? 'ready' : 'running'
  if (terminated) return 'exited'
  switch (waiting?.reason) {
    case 'ErrImagePull':
      return 'pull-failed'
    case 'ImagePullBackOff':
      return 'pull-backoff'
    case 'CrashLoopBackOff':
      return 'backoff'
    default:
      return 'creating'
  }
}

export interface PodState {
  readonly pod: Stored<Pod>
  readonly script: PodScript
  readonly stage: PodStage
  /** Milliseconds since the pod entered this stage; for a running pod, since it started. */
  readonly elapsed: number
  readonly now: number
}

/** Decides the next step of a pod. A pure function of the state. */
export function nextStep(state: PodState): PodStep {
  const { elapsed, pod, script, stage } = state
  switch (stage) {
    case 'stopping':
      return stop(state)
    case 'over':
      return wait(undefined)
    case 'new':
      return write('Pending', waiting(pod, 'ContainerCreating'), false)
    case 'creating':
      if (elapsed < script.pull) return wait(script.pull - elapsed)
      if (script.pullFailure !== undefined) return failPull(pod, script.pullFailure)
      return elapsed < script.pull + script.start ? wait(script.pull + script.start - elapsed) : start(state, 0)
    case 'pull-failed':
      if (script.pullFailure === undefined) return start(state, 0)
      return elapsed < MIN_EXIT_DISPLAY_MS ? wait(MIN_EXIT_DISPLAY_MS - elapsed) : backOffPull(pod, script.pullFailure)
    case 'pull-backoff':
      return script.pullFailure === undefined ? start(state, 0) : wait(undefined)
    case 'running':
    case 'ready':
      return run(state)
    case 'exited':
      return elapsed < MIN_EXIT_DISPLAY_MS ? wait(MIN_EXIT_DISPLAY_MS - elapsed) : afterExit(state)
    default: {
      const left = backoff(restarts(pod)) - elapsed
      return left > 0 ? wait(left) : start(state, restarts(pod) + 1)
    }
  }
}

function wait(after: number | undefined): PodStep {
  // Rounded up: a fraction may be too small to advance the clock and would repeat forever.
  return { type: 'wait', after: after === undefined || after === Infinity ? undefined : Math.ceil(after) }
}

function write(
  phase: NonNullable<PodStatus['phase']>,
  containers: Containers,
  needsIP: boolean,
  events: readonly EventContent[] = [],
): PodStep {
  return { type: 'write', phase, containers, needsIP, events }
}

function restarts(pod: Pod): number {
  return pod.status?.containerStatuses?.[0]?.restartCount ?? 0
}

function lastState(pod: Pod): ContainerState | undefined {
  return pod.status?.containerStatuses?.[0]?.lastState
}

function waiting(pod: Pod, reason: string, message?: string): Containers {
  const isFirst = reason === 'ContainerCreating' && (pod.spec?.initContainers?.length ?? 0) > 0
  return {
    state: { waiting: { ...(message && { message }), reason: isFirst ? 'PodInitializing' : reason } },
    lastState: lastState(pod),
    restartCount: restarts(pod),
    ready: false,
    initialized: !isFirst,
  }
}

// ---- images ----

function imagesOf(pod: Pod): readonly string[] {
  return (pod.spec?.containers ?? []).map(({ image }) => image ?? '')
}

function failPull(pod: Pod, failure: string): PodStep {
  const [image = ''] = imagesOf(pod)
  const message = pullMessage(image, failure)
  return write('Pending', waiting(pod, 'ErrImagePull', message), true, [
    { type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` },
    { type: 'Warning', reason: 'Failed', message: `Failed to pull image "${image}": ${message}` },
    { type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' },
  ])
}

function backOffPull(pod: Pod, failure: string): PodStep {
  const [image = ''] = imagesOf(pod)
  const message = `Back-off pulling image "${image}": ErrImagePull: ${pullMessage(image, failure)}`
  return write('Pending', waiting(pod, 'ImagePullBackOff', message), true, [
    { type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${image}"` },
    { type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' },
  ])
}

function pullMessage(image: string, failure: string): string {
  const why = failure === 'true' || failure === '' ? 'not found' : failure
  return `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${why}`
}

// ---- running ----

function start({ pod, script, now }: PodState, restartCount: number): PodStep {
  const took = formatDuration(script.pull)
  const pulls =
    restartCount > 0
      ? []
      : imagesOf(pod).map((image): EventContent => {
          const message = `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: 0 bytes.`
          return { type: 'Normal', reason: 'Pulled', message }
        })
  const containers: Containers = {
    state: { running: { startedAt: rfc3339(now) } },
    lastState: restartCount > 0 ? (exitOf(pod) ?? lastState(pod)) : undefined,
    restartCount,
    ready: script.ready === 0,
    initialized: true,
  }
  return write('Running', containers, true, [
    ...pulls,
    { type: 'Normal', reason: 'Created', message: 'Container created' },
    { type: 'Normal', reason: 'Started', message: 'Container started' },
  ])
}

/** The current state of an exited container. */
function exitOf(pod: Pod): ContainerState | undefined {
  const terminated = pod.status?.containerStatuses?.[0]?.state?.terminated
  return terminated && { terminated }
}

function run({ elapsed, now, pod, script, stage }: PodState): PodStep {
  const { exit, ready } = script
  if (exit && elapsed >= exit.after) return exitContainer(pod, exit.code, now)
  const untilExit = exit ? exit.after - elapsed : Infinity
  const container = pod.status?.containerStatuses?.[0]
  const running = container?.state ?? {}
  const shouldBeReady = elapsed >= ready
  if (stage === 'ready' && !shouldBeReady && ready === Infinity)
    return write('Running', withState(pod, running, false), true)
  if (stage === 'ready' || !shouldBeReady) {
    // Written for readiness gates; an unchanged status is not sent.
    const keep = write('Running', withState(pod, running, stage === 'ready'), true)
    const next = Math.min(untilExit, stage === 'ready' ? Infinity : ready - elapsed)
    return next === Infinity ? keep : wait(next)
  }
  return write('Running', withState(pod, running, true), true)
}

function withState(pod: Pod, state: ContainerState, ready: boolean): Containers {
  return { state, lastState: lastState(pod), restartCount: restarts(pod), ready, initialized: true }
}

function exitContainer(pod: Pod, code: number, now: number): PodStep {
  const startedAt = pod.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? rfc3339(now)
  const state: ContainerState = {
    terminated: { exitCode: code, reason: code === 0 ? 'Completed' : 'Error', startedAt, finishedAt: rfc3339(now) },
  }
  const phase = isRestarted(pod, code) ? 'Running' : code === 0 ? 'Succeeded' : 'Failed'
  return write(phase, withState(pod, state, false), true)
}

function isRestarted(pod: Pod, code: number): boolean {
  const policy = pod.spec?.restartPolicy ?? 'Always'
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0)
}

/** The first restart is immediate; later ones wait with exponential backoff. */
function afterExit(state: PodState): PodStep {
  const { pod } = state
  const count = restarts(pod)
  if (count === 0) return start(state, 1)
  const { name, namespace, uid } = pod.metadata
  const container = pod.spec?.containers[0]?.name ?? ''
  const where = `${name}_${namespace ?? ''}(${uid})`
  const message = `back-off ${goDuration(backoff(count))} restarting failed container=${container} pod=${where}`
  const containers: Containers = {
    state: { waiting: { message, reason: 'CrashLoopBackOff' } },
    lastState: exitOf(pod),
    restartCount: count,
    ready: false,
    initialized: true,
  }
  const note = `Back-off restarting failed container ${container} in pod ${where}`
  return write('Running', containers, true, [{ type: 'Warning', reason: 'BackOff', message: note }])
}

function backoff(count: number): number {
  return Math.min(MIN_BACKOFF_MS * 2 ** (count - 1), MAX_BACKOFF_MS)
}

function goDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

// ---- stopping ----

function stop({ elapsed, now, pod, script }: PodState): PodStep {
  const grace = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000
  const isRunning = pod.status?.containerStatuses?.some(({ state }) => state?.running) ?? false
  const takes = isRunning ? Math.min(script.stop, grace) : 0
  if (elapsed < takes) return wait(takes - elapsed)
  // A controller that counts finished pods by a finalizer needs their final state.
  if (isRunning && (pod.metadata.finalizers?.length ?? 0) > 0) {
    const wasKilled = script.stop > grace
    const startedAt = pod.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? rfc3339(now)
    const exitCode = wasKilled ? 137 : 143
    const state = { terminated: { exitCode, reason: 'Error', startedAt, finishedAt: rfc3339(now) } }
    return write('Failed', withState(pod, state, false), true)
  }
  // The deletion is already confirmed; a finalizer of another controller delays it.
  if (grace === 0 && (pod.metadata.finalizers?.length ?? 0) > 0) return wait(undefined)
  return { type: 'delete' }
}
