import type { Stored } from '@tenure/kube'
import type { Pod } from '@tenure/kube/kinds'
import { parseDuration } from '@tenure/runtime'
import { controllerOf } from '../common/owners.ts'

/** Annotations on a pod by which it misbehaves. docs/reference/simulated-nodes.md tells people. */
export const SIMULATE = {
  /** How long the image takes to arrive: `5s`. */
  pull: 'tenure.dev/simulate-pull',
  /** The image can not be pulled; the value is the reason that is shown. */
  pullFailure: 'tenure.dev/simulate-pull-failure',
  /** How long the containers take to start once the image is there. */
  start: 'tenure.dev/simulate-start',
  /** How long a running pod takes to become ready; `never`. */
  ready: 'tenure.dev/simulate-ready',
  /** The containers exit with this code. */
  exitCode: 'tenure.dev/simulate-exit-code',
  /** How long they run before they exit. Alone: with code 0. */
  exitAfter: 'tenure.dev/simulate-exit-after',
  /** How long the containers take to stop when the pod is deleted; `never`: until the grace period is over. */
  stop: 'tenure.dev/simulate-stop',
} as const

/** How fast simulated nodes are, in milliseconds. */
export interface PodTimes {
  /** Default 200. */
  readonly pull?: number
  /** Default 300. */
  readonly start?: number
  /** Default 0: a pod is ready as soon as it runs. */
  readonly ready?: number
  /** Default 200. */
  readonly stop?: number
  /** How long the pods of Jobs run before they complete. Default 1,000. */
  readonly job?: number
}

/** What becomes of a pod, and when; all in milliseconds. */
export interface Script {
  readonly pull: number
  /** Why the image can not be pulled. */
  readonly pullFailure: string | undefined
  readonly start: number
  /** Infinity: never. */
  readonly ready: number
  readonly exit: { readonly after: number; readonly code: number } | undefined
  readonly stop: number
}

export function scriptOf(pod: Stored<Pod>, times: PodTimes): Script {
  const { annotations = {} } = pod.metadata
  const of = (name: string): string | undefined => (Object.hasOwn(annotations, name) ? annotations[name] : undefined)
  const failure = of(SIMULATE.pullFailure)
  return {
    pull: duration(of(SIMULATE.pull), times.pull ?? 200),
    pullFailure: failure === undefined || failure === 'false' ? undefined : failure,
    start: duration(of(SIMULATE.start), times.start ?? 300),
    ready: duration(of(SIMULATE.ready), times.ready ?? 0),
    exit: exitOf(pod, of(SIMULATE.exitCode), of(SIMULATE.exitAfter), times),
    stop: duration(of(SIMULATE.stop), times.stop ?? 200),
  }
}

function exitOf(
  pod: Stored<Pod>,
  code: string | undefined,
  after: string | undefined,
  times: PodTimes,
): Script['exit'] {
  const isJob = controllerOf(pod)?.kind === 'Job'
  if (code === undefined && after === undefined && !isJob) return undefined
  const wait = duration(after, isJob ? (times.job ?? 1_000) : 0)
  if (wait === Infinity) return undefined
  const number = Number(code ?? 0)
  return { after: wait, code: Number.isInteger(number) && number >= 0 && number < 256 ? number : 1 }
}

/** A duration as people write it; what can not be read is as if it were not there. */
function duration(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (text === 'never') return Infinity
  try {
    return Math.max(parseDuration(text), 0)
  } catch {
    return otherwise
  }
}
