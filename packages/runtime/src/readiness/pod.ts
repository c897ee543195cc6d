import type { Pod } from '@tenure/kube/kinds'
import { STUCK_CONTAINER_REASONS } from '@tenure/kube/model'
import { getCondition, isTrue } from '../actions/conditions.ts'
import { disrupted, failed, type Readiness, ready, stuck, waiting } from './readiness.ts'

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

/** Reasons of a failed pod that its node or the scheduler has ended. */
const DISRUPTION_REASONS: ReadonlySet<string> = new Set([
  'Evicted',
  'NodeShutdown',
  'Preempting',
  'Terminated',
  'NodeLost',
])
/** Characters of a container's last words. */
const MAX_WORDS_LENGTH = 256

export function podReadiness({ status }: Pod): Readiness {
  const phase = status?.phase ?? 'Pending'
  const conditions = status?.conditions
  if (phase === 'Succeeded') return ready('pod succeeded')
  if (isTrue(conditions, 'DisruptionTarget')) {
    const { reason = '', message = '' } = getCondition(conditions, 'DisruptionTarget') ?? {}
    return disrupted(withReason('pod disrupted', reason, message))
  }
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  if (phase === 'Failed') return failedPod(status ?? {}, containers)
  if (phase === 'Running' && isTrue(conditions, 'Ready')) return ready('pod ready')
  const blocked = containers.find(({ state }) => STUCK_CONTAINER_REASONS.has(state?.waiting?.reason ?? ''))
  if (blocked) {
    const { message = '', reason = '' } = blocked.state?.waiting ?? {}
    const words = lastWords(blocked) || clean(message)
    return stuck(withReason(`pod phase=${phase}`, reason, words))
  }
  return waiting(`pod phase=${phase}`)
}

function failedPod(status: NonNullable<Pod['status']>, containers: readonly ContainerStatus[]): Readiness {
  const { message = '', reason = '' } = status
  if (DISRUPTION_REASONS.has(reason)) return disrupted(withReason('pod failed', reason, clean(message)))
  const ended = containers.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  const words = (ended && lastWords(ended)) || clean(message)
  return failed(withReason('pod failed', reason || (ended?.state?.terminated?.reason ?? ''), words))
}

/** The termination message of a container that ended. */
function lastWords({ lastState, state }: ContainerStatus): string {
  const ended = state?.terminated ?? lastState?.terminated
  return clean(ended?.message ?? '')
}

function withReason(text: string, reason: string, words: string): string {
  const details = [reason, words].filter(Boolean).join(': ')
  return details ? `${text} (${details})` : text
}

/** Bounded, on one line. */
function clean(text: string): string {
  // eslint-disable-next-line no-control-regex
  const line = text.replaceAll(/[\u0000-\u001F\u007F]+/g, ' ').trim()
  return line.length > MAX_WORDS_LENGTH ? `${line.slice(0, MAX_WORDS_LENGTH)}…` : line
}
