import type { Claim } from '../../api/claim.ts'
import { isFailing, nextAttemptAt, type PoolHistory } from './plan.ts'

/** The figures of a pool, for people and metrics. */
export interface PoolStatus {
  readonly name: string
  /** Idle members that can be handed out. */
  readonly ready: number
  /** Idle members on their way. */
  readonly pending: number
  /** Idle members that cannot become ready. */
  readonly failing: number
  /** Claims that were handed out, warm and cold. */
  readonly claimed: number
  /** Why the last member failed, in the container's last words. Undefined if none did. */
  readonly lastFailure: string | undefined
  /** Why no member can be made: the template or its values. Undefined if they are valid. */
  readonly templateFailure: string | undefined
  /** When the next member is tried after failures: milliseconds since 1970. Undefined if nothing waits; only the leader knows. */
  readonly nextAttemptAt: number | undefined
}

export function poolStatus(
  name: string,
  claims: readonly Claim[],
  { history, templateFailure, now }: PoolStatusContext,
): PoolStatus {
  const idle = claims.filter((claim) => claim.isIdle && !claim.isTerminating)
  const failing = idle.filter(isFailing)
  const ready = idle.filter((claim) => claim.status === 'ready' && !isFailing(claim))
  const next = history && nextAttemptAt(history)
  return {
    name,
    ready: ready.length,
    pending: idle.length - failing.length - ready.length,
    failing: failing.length,
    claimed: claims.filter((claim) => !claim.isIdle && !claim.isTerminating).length,
    lastFailure: failing.at(-1)?.message ?? (history && history.failures > 0 ? history.lastFailure : undefined),
    templateFailure,
    nextAttemptAt: next !== undefined && next > now ? next : undefined,
  }
}

export interface PoolStatusContext {
  readonly now: number
  /** Undefined on replicas that do not lead. */
  readonly history: PoolHistory | undefined
  readonly templateFailure: string | undefined
}
