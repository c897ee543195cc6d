import type { Stored } from '@tenure/kube'
import type { Pod } from '@tenure/kube/kinds'
import { parseDuration } from '@tenure/runtime'
import { controllerOf } from '../common/owners.ts'

/** Annotations that control a simulated pod; documented in docs/reference/simulated-nodes.md. */
export const SIMULATE = {
  /** Duration of the image pull, for example `5s`. */
  pull: 'tenure.dev/simulate-pull',
  /** Makes the image pull fail; the value is the reason. */
  pullFailure: 'tenure.dev/simulate-pull-failure',
  /** Duration of the container start after the pull. */
  start: 'tenure.dev/simulate-start',
  /** Duration until a running pod is ready, or `never`. */
  ready: 'tenure.dev/simulate-ready',
  /** Exit code of the containers. */
  exitCode: 'tenure.dev/simulate-exit-code',
  /** Duration until the containers exit. Default exit code: 0. */
  exitAfter: 'tenure.dev/simulate-exit-after',
  /** Duration of the container stop after deletion; `never` lasts until the end of the grace period. */
  stop: 'tenure.dev/simulate-stop',
} as const

/** Durations of simulated pods in milliseconds. */
export interface PodTimes {
  /** Default 200. */
  readonly pull?: number
  /** Default 300. */
  readonly start?: number
  /** Default 0: a running pod is ready at once. */
  readonly ready?: number
  /** Default 200. */
  readonly stop?: number
  /** Running time of pods of Jobs. Default 1,000. */
  readonly job?: number
}

/** The times that are not set. */
export const DEFAULT_POD_TIMES = { pull: 200, start: 300, ready: 0, stop: 200, job: 1_000 } as const satisfies PodTimes

/** Simulated behaviour of a pod; times in milliseconds. */
export interface PodScript {
  readonly pull: number
  /** Reason of a failing image pull. */
  readonly pullFailure: string | undefined
  readonly start: number
  /** Infinity: never. */
  readonly ready: number
  readonly exit: { readonly after: number; readonly code: number } | undefined
  readonly stop: number
}

export function podScript(pod: Stored<Pod>, times: PodTimes): PodScript {
  const { annotations = {} } = pod.metadata
  const of = (name: string): string | undefined => (Object.hasOwn(annotations, name) ? annotations[name] : undefined)
  const failure = of(SIMULATE.pullFailure)
  return {
    pull: duration(of(SIMULATE.pull), times.pull ?? DEFAULT_POD_TIMES.pull),
    pullFailure: failure === undefined || failure === 'false' ? undefined : failure,
    start: duration(of(SIMULATE.start), times.start ?? DEFAULT_POD_TIMES.start),
    ready: duration(of(SIMULATE.ready), times.ready ?? DEFAULT_POD_TIMES.ready),
    exit: exitOf(pod, of(SIMULATE.exitCode), of(SIMULATE.exitAfter), times),
    stop: duration(of(SIMULATE.stop), times.stop ?? DEFAULT_POD_TIMES.stop),
  }
}

function exitOf(
  pod: Stored<Pod>,
  code: string | undefined,
  after: string | undefined,
  times: PodTimes,
): PodScript['exit'] {
  const isJob = controllerOf(pod)?.kind === 'Job'
  if (code === undefined && after === undefined && !isJob) return undefined
  const wait = duration(after, isJob ? (times.job ?? DEFAULT_POD_TIMES.job) : 0)
  if (wait === Infinity) return undefined
  const number = Number(code ?? 0)
  return { after: wait, code: Number.isInteger(number) && number >= 0 && number < 256 ? number : 1 }
}

/** Parses a duration; invalid text counts as absent. */
function duration(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  if (text === 'never') return Infinity
  try {
    return Math.max(parseDuration(text), 0)
  } catch {
    return fallback
  }
}
