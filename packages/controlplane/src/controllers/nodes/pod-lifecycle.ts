import type { Stored } from '@tenure/kube'
import type { ContainerState, Pod, PodStatus } from '@tenure/kube/kinds'
import { formatDuration, rfc3339 } from '@tenure/runtime'
import { isFinished } from '../common/pods.ts'
import type { Containers } from './pod-status.ts'
import type { Script } from './simulation.ts'

/** Where in its life a pod is, read off its own status, so that a restart of the control plane loses nothing. */
export type Stage =
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

export interface Note {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** What is to be done for a pod now. */
export type PodStep =
  | { readonly type: 'wait'; readonly after: number | undefined }
  | {
      readonly type: 'write'
      readonly phase: NonNullable<PodStatus['phase']>
      readonly containers: Containers
      readonly needsIP: boolean
      readonly notes: readonly Note[]
    }
  | { readonly type: 'delete' }

const FIRST_BACKOFF = 10_000
const LONGEST_BACKOFF = 300_000
/** Milliseconds that the state of a container that has exited is shown before it is started again. */
const SHOW_EXIT = 1_000

export function stageOf(pod: Stored<Pod>): Stage {
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

export interface LifeSeen {
  readonly pod: Stored<Pod>
  readonly script: Script
  readonly stage: Stage
  /** Milliseconds since the pod is in this stage; of a running one, since it runs. */
  readonly elapsed: number
  readonly now: number
}

/** The next step of a pod's life. Pure: what happens, and when, is all in what is seen. */
export function nextStep(seen: LifeSeen): PodStep {
  const { elapsed, pod, script, stage } = seen
  switch (stage) {
    case 'stopping':
      return stop(seen)
    case 'over':
      return wait(undefined)
    case 'new':
      return write('Pending', waiting(pod, 'ContainerCreating'), false)
    case 'creating':
      if (elapsed < script.pull) return wait(script.pull - elapsed)
      if (script.pullFailure !== undefined) return failPull(pod, script.pullFailure)
      return elapsed < script.pull + script.start ? wait(script.pull + script.start - elapsed) : start(seen, 0)
    case 'pull-failed':
      if (script.pullFailure === undefined) return start(seen, 0)
      return elapsed < SHOW_EXIT ? wait(SHOW_EXIT - elapsed) : backOffPull(pod, script.pullFailure)
    case 'pull-backoff':
      return script.pullFailure === undefined ? start(seen, 0) : wait(undefined)
    case 'running':
    case 'ready':
      return run(seen)
    case 'exited':
      return elapsed < SHOW_EXIT ? wait(SHOW_EXIT - elapsed) : afterExit(seen)
    default: {
      const left = backoff(restarts(pod)) - elapsed
      return left > 0 ? wait(left) : start(seen, restarts(pod) + 1)
    }
  }
}

function wait(after: number | undefined): PodStep {
  // Whole milliseconds: what is left of a sum of fractions may be too little to move the clock, and would be waited for for ever.
  return { type: 'wait', after: after === undefined || after === Infinity ? undefined : Math.ceil(after) }
}

function write(
  phase: NonNullable<PodStatus['phase']>,
  containers: Containers,
  needsIP: boolean,
  notes: readonly Note[] = [],
): PodStep {
  return { type: 'write', phase, containers, needsIP, notes }
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

function start({ pod, script, now }: LifeSeen, restartCount: number): PodStep {
  const took = formatDuration(script.pull)
  const pulls =
    restartCount > 0
      ? []
      : imagesOf(pod).map((image): Note => {
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

/** The exit of a container that is shown as its state now. */
function exitOf(pod: Pod): ContainerState | undefined {
  const terminated = pod.status?.containerStatuses?.[0]?.state?.terminated
  return terminated && { terminated }
}

function run({ elapsed, now, pod, script, stage }: LifeSeen): PodStep {
  const { exit, ready } = script
  if (exit && elapsed >= exit.after) return leave(pod, exit.code, now)
  const untilExit = exit ? exit.after - elapsed : Infinity
  const container = pod.status?.containerStatuses?.[0]
  const running = container?.state ?? {}
  const shouldBeReady = elapsed >= ready
  if (stage === 'ready' && !shouldBeReady && ready === Infinity)
    return write('Running', again(pod, running, false), true)
  if (stage === 'ready' || !shouldBeReady) {
    // Written even if nothing changes, for readiness gates; what says the same is not sent.
    const keep = write('Running', again(pod, running, stage === 'ready'), true)
    const next = Math.min(untilExit, stage === 'ready' ? Infinity : ready - elapsed)
    return next === Infinity ? keep : wait(next)
  }
  return write('Running', again(pod, running, true), true)
}

function again(pod: Pod, state: ContainerState, ready: boolean): Containers {
  return { state, lastState: lastState(pod), restartCount: restarts(pod), ready, initialized: true }
}

function leave(pod: Pod, code: number, now: number): PodStep {
  const startedAt = pod.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? rfc3339(now)
  const state: ContainerState = {
    terminated: { exitCode: code, reason: code === 0 ? 'Completed' : 'Error', startedAt, finishedAt: rfc3339(now) },
  }
  const phase = isRestarted(pod, code) ? 'Running' : code === 0 ? 'Succeeded' : 'Failed'
  return write(phase, again(pod, state, false), true)
}

function isRestarted(pod: Pod, code: number): boolean {
  const policy = pod.spec?.restartPolicy ?? 'Always'
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0)
}

/** The first time a container is started again at once, after that it has to wait longer each time. */
function afterExit(seen: LifeSeen): PodStep {
  const { pod } = seen
  const count = restarts(pod)
  if (count === 0) return start(seen, 1)
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
  return Math.min(FIRST_BACKOFF * 2 ** (count - 1), LONGEST_BACKOFF)
}

function goDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

// ---- stopping ----

function stop({ elapsed, now, pod, script }: LifeSeen): PodStep {
  const grace = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000
  const isRunning = pod.status?.containerStatuses?.some(({ state }) => state?.running) ?? false
  const takes = isRunning ? Math.min(script.stop, grace) : 0
  if (elapsed < takes) return wait(takes - elapsed)
  // Who counts finished pods before he lets them go has to see how they ended.
  if (isRunning && (pod.metadata.finalizers?.length ?? 0) > 0) {
    const wasKilled = script.stop > grace
    const startedAt = pod.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? rfc3339(now)
    const exitCode = wasKilled ? 137 : 143
    const state = { terminated: { exitCode, reason: 'Error', startedAt, finishedAt: rfc3339(now) } }
    return write('Failed', again(pod, state, false), true)
  }
  // Already told: what holds it now is not ours.
  if (grace === 0 && (pod.metadata.finalizers?.length ?? 0) > 0) return wait(undefined)
  return { type: 'delete' }
}
