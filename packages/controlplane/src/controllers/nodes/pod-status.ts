import type { Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import type { Container, ContainerState, ContainerStatus, Pod, PodCondition, PodStatus } from '@tenure/kube/kinds'
import { rfc3339 } from '@tenure/runtime'
import { conditionOf } from '../common/conditions.ts'
import { shortHash } from '../common/hash.ts'

/** The common state of all containers of a simulated pod. */
export interface Containers {
  readonly state: ContainerState
  readonly lastState?: ContainerState | undefined
  readonly restartCount: number
  readonly ready: boolean
  /** True after init containers completed. */
  readonly initialized: boolean
}

export interface StatusInput {
  readonly phase: NonNullable<PodStatus['phase']>
  readonly containers: Containers
  readonly hostIP: string
  readonly podIP?: string | undefined
  readonly now: number
}

/** The status as a kubelet writes it. Fields of other writers, such as readiness gates, stay. */
export function podStatus(pod: Stored<Pod>, input: StatusInput): PodStatus {
  const { containers, hostIP, phase, now } = input
  const before = pod.status
  const podIP = input.podIP ?? before?.podIP
  const generation = pod.metadata.generation
  const initContainers = pod.spec?.initContainers ?? []
  return {
    ...before,
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    conditions: conditions(pod, input),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(podIP && { podIP, podIPs: [{ ip: podIP }] }),
    startTime: before?.startTime ?? rfc3339(now),
    ...(initContainers.length > 0 && {
      initContainerStatuses: initContainers.map((container) => initStatus(pod, container, containers, now)),
    }),
    containerStatuses: (pod.spec?.containers ?? []).map((container) => containerStatus(pod, container, containers)),
  }
}

function containerStatus(pod: Stored<Pod>, container: Container, containers: Containers): ContainerStatus {
  const { lastState, ready, restartCount, state } = containers
  const id = state.waiting ? undefined : containerId(pod, container, restartCount)
  const isPulled = state.running !== undefined || state.terminated !== undefined || restartCount > 0
  const image = isPulled ? fullImage(container.image) : (container.image ?? '')
  return {
    name: container.name,
    state: withId(state, id),
    lastState: lastState ?? {},
    ready,
    restartCount,
    image,
    imageID: isPulled ? `${image.split('@')[0]}@sha256:${digest(image)}` : '',
    ...(id && { containerID: id }),
    started: state.running !== undefined,
  }
}

function initStatus(pod: Stored<Pod>, container: Container, containers: Containers, now: number): ContainerStatus {
  const started = pod.status?.startTime ?? rfc3339(now)
  const isSidecar = container.restartPolicy === 'Always'
  const state: ContainerState = !containers.initialized
    ? { waiting: { reason: 'PodInitializing' } }
    : isSidecar
      ? { running: { startedAt: started } }
      : { terminated: { exitCode: 0, reason: 'Completed', startedAt: started, finishedAt: started } }
  return containerStatus(pod, container, { ...containers, state, restartCount: 0, ready: containers.initialized })
}

function withId(state: ContainerState, id: string | undefined): ContainerState {
  return state.terminated && id ? { terminated: { ...state.terminated, containerID: id } } : state
}

function containerId(pod: Stored<Pod>, container: Container, restartCount: number): string {
  return `containerd://${digest(`${pod.metadata.uid}/${container.name}/${restartCount}`)}`
}

/** The full name of an image as a container runtime reports it. */
function fullImage(image = ''): string {
  const [first = ''] = image.split('/')
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost'
  const named = image.includes('/') ? (isHost ? image : `docker.io/${image}`) : `docker.io/library/${image}`
  return named.includes('@') || named.slice(named.lastIndexOf('/')).includes(':') ? named : `${named}:latest`
}

/** A deterministic text in the form of a digest. */
function digest(text: string): string {
  let hex = ''
  for (let part = 1; hex.length < 64; part++) hex += Buffer.from(shortHash(text, part)).toString('hex')
  return hex.slice(0, 64)
}

function conditions(pod: Stored<Pod>, { containers, now, phase }: StatusInput): readonly PodCondition[] {
  const before = pod.status?.conditions ?? []
  const names = (pod.spec?.containers ?? []).map(({ name }) => name).join(' ')
  const initNames = (pod.spec?.initContainers ?? []).map(({ name }) => name).join(' ')
  const isFinished = phase === 'Succeeded' || phase === 'Failed'
  const unready = isFinished
    ? { reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` }
  const gate = containers.ready ? failedGate(pod) : undefined
  const isInitialized = containers.initialized || initNames === ''
  const wanted: PodCondition[] = [
    {
      type: 'PodReadyToStartContainers',
      status: truth(!isFinished && containers.state.waiting?.reason !== 'ContainerCreating'),
    },
    {
      type: 'Initialized',
      status: truth(isInitialized),
      ...(!isInitialized && {
        reason: 'ContainersNotInitialized',
        message: `containers with incomplete status: [${initNames}]`,
      }),
      ...(phase === 'Succeeded' && { reason: 'PodCompleted' }),
    },
    {
      type: 'Ready',
      status: truth(containers.ready && gate === undefined),
      ...(!containers.ready && unready),
      ...(gate && { reason: 'ReadinessGatesNotReady', message: gate }),
    },
    { type: 'ContainersReady', status: truth(containers.ready), ...(!containers.ready && unready) },
    { type: 'PodScheduled', status: 'True' },
  ]
  const generation = pod.metadata.generation
  const own = wanted.map((condition): PodCondition => {
    const known = conditionOf(before, condition.type)
    const since = known?.status === condition.status ? known.lastTransitionTime : undefined
    return {
      ...condition,
      ...(generation !== undefined && { observedGeneration: generation }),
      lastTransitionTime: since ?? rfc3339(now),
    }
  })
  return [...before.filter(({ type }) => !conditionOf(own, type)), ...own]
}

function failedGate(pod: Stored<Pod>): string | undefined {
  const messages = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = conditionOf(pod.status?.conditions, conditionType)
    if (!found) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    const is = `the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`
    return found.status === 'True' ? [] : [is]
  })
  return messages.length > 0 ? messages.join(', ') : undefined
}

/** True if two statuses are equal apart from the times of conditions. */
export function isSameStatus(before: PodStatus | undefined, after: PodStatus): boolean {
  return isDeepEqual(strip(before), strip(after))
}

function strip(status: PodStatus | undefined): unknown {
  return {
    ...status,
    conditions: (status?.conditions ?? [])
      .map(({ lastProbeTime: _probe, lastTransitionTime: _time, ...condition }) => condition)
      .toSorted((a, b) => (a.type < b.type ? -1 : 1)),
  }
}

function truth(value: boolean): 'True' | 'False' {
  return value ? 'True' : 'False'
}
