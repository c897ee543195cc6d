import type { ContainerStatus, Pod } from '@tenure/kube/kinds'

/** Why a pod does not get ready. */
export interface Trouble {
  /** In one word, as the pod has it. */
  readonly reason: string
  readonly message: string
  /** It takes somebody to change something. Otherwise it may just take time. */
  readonly isFatal: boolean
}

/** Reasons for which a container waits that do not pass by themselves, or not soon. */
const FATAL = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'RegistryUnavailable',
  'RunContainerError',
  'SignatureValidationFailed',
  'StartError',
])

/** Restarts after which a container that is not ready crashes in a loop, also in the moments in which it runs. */
const CRASHES = 2
const LONGEST = 1_000

/** What is wrong with a pod, undefined if nothing is. */
export function troubleOf(pod: Pod): Trouble | undefined {
  const { metadata, status } = pod
  if (metadata?.deletionTimestamp || !status) return undefined
  for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const trouble = containerTrouble(container)
    if (trouble) return { ...trouble, message: `Pod ${metadata?.name ?? ''}: ${trouble.message}`.slice(0, LONGEST) }
  }
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined
  const message = `Pod ${metadata?.name ?? ''}: ${scheduled.message ?? 'no node can take it'}`.slice(0, LONGEST)
  return { reason: 'Unschedulable', message, isFatal: false }
}

function containerTrouble(container: ContainerStatus): Trouble | undefined {
  const { lastState, name, ready, restartCount, state } = container
  const waiting = state?.waiting
  const isCrashing = waiting?.reason === 'CrashLoopBackOff' || (!ready && restartCount >= CRASHES)
  const crash = state?.terminated ?? lastState?.terminated
  if (isCrashing && crash && crash.exitCode !== 0) {
    // The kubelet's own message tells the length of the pause, which changes all the time.
    return {
      reason: 'CrashLoopBackOff',
      message: `container ${name} keeps crashing, with exit code ${crash.exitCode}`,
      isFatal: true,
    }
  }
  const reason = waiting?.reason
  if (reason === undefined || !FATAL.has(reason)) return undefined
  return { reason, message: waiting?.message || `container ${name} does not start`, isFatal: true }
}

const FAMILIES: Readonly<Record<string, string>> = { ErrImagePull: 'ImagePullBackOff' }

/** Whether two reasons tell the same trouble: a pull fails and waits in turn. */
export function isSameTrouble(one: string, other: string): boolean {
  return (FAMILIES[one] ?? one) === (FAMILIES[other] ?? other)
}
