import type { Claim } from '../../api/claim.ts'
import type { PoolSize } from './size.ts'

/** Members that may be on their way before one of the same revision became ready: a broken template makes few. */
export const MAX_UNPROVEN = 4
const MIN_BACKOFF_MS = 10_000
const MAX_BACKOFF_MS = 300_000
/** A member that stays ready for this long ends a series of failures; one that is handed out does so at once. */
const STABLE_MS = 10_000
/** Creation times are in whole seconds. */
const CREATION_TOLERANCE_MS = 1_000

/** Results of the members of one revision. */
export interface PoolHistory {
  readonly revision: string
  /** No plan has seen the members yet, as of a new leader: it is unknown whether claimed ones were ready before. */
  readonly isNew: boolean
  /** A member of the revision has been ready. */
  readonly isProven: boolean
  /** Failures in a row, without a member between them that stayed ready or was of use. Failures of one moment count once. */
  readonly failures: number
  /** Milliseconds since 1970: the last failure. */
  readonly failedAt: number
  /** Names of members whose failure was counted. */
  readonly counted: ReadonlySet<string>
  /** Since when members are ready, by id: milliseconds since 1970. Of a claimed member: since when it was before. */
  readonly readySince: ReadonlyMap<string, number>
  /** The state of the last member that failed. */
  readonly lastFailure: string | undefined
}

export function newHistory(revision: string): PoolHistory {
  return {
    revision,
    isNew: true,
    isProven: false,
    failures: 0,
    failedAt: 0,
    counted: new Set(),
    readySince: new Map(),
    lastFailure: undefined,
  }
}

export interface PoolState {
  readonly now: number
  /** Of the pool's template now. */
  readonly revision: string
  /** All claims of the pool that are not terminating. */
  readonly claims: readonly Claim[]
  readonly size: PoolSize
  readonly history: PoolHistory
  /** Members whose creation is under way, which `claims` does not show. Default 0. */
  readonly creating?: number
}

export type RemovalReason = 'outdated' | 'surplus' | 'failed'

export interface PoolPlan {
  /** Members to create. */
  readonly create: number
  readonly remove: readonly { readonly claim: Claim; readonly reason: RemovalReason }[]
  readonly history: PoolHistory
  /** When to plan again although nothing changes: milliseconds since 1970. */
  readonly again: number | undefined
}

/** Decides which members of a pool to create and to remove. A member that was handed out is never touched. */
export function planPool({ now, revision, claims, size, history: before, creating = 0 }: PoolState): PoolPlan {
  const history = noteMembers(before.revision === revision ? before : newHistory(revision), claims, now)
  const idle = claims.filter(({ isIdle }) => isIdle)
  const outdated = idle.filter((claim) => claim.revision !== revision)
  const current = idle.filter((claim) => claim.revision === revision)
  const failing = current.filter(isFailing)
  const healthy = current.filter((claim) => !isFailing(claim))

  const surplus = choose(healthy, healthy.length - size.idle)
  const lacking = Math.max(0, size.idle - healthy.length - creating)
  const due = nextAttemptAt(history)
  const isHeld = lacking > 0 && now < due
  const allowed = isHeld ? 0 : Math.max(0, maxTrials(history) - creating - trials(history, healthy))
  const create = Math.min(lacking, allowed)
  // A failing member stays until its successor is made: it shows what is wrong. Beyond the target it only takes space.
  const retired = lacking === 0 ? failing : failing.toSorted(byAge).slice(0, Math.max(create, failing.length - lacking))
  return {
    create,
    remove: [
      ...outdated.map((claim) => ({ claim, reason: 'outdated' as const })),
      ...surplus.map((claim) => ({ claim, reason: 'surplus' as const })),
      ...retired.map((claim) => ({ claim, reason: 'failed' as const })),
    ],
    history,
    again: earliest(earliest(isHeld ? due : undefined, stableAt(history, claims)), size.again),
  }
}

/** Whether a member cannot be handed out, now or soon. */
export function isFailing({ failure, status }: Claim): boolean {
  return status === 'failed' || failure !== undefined
}

/** Takes note of members that became ready or failed. */
function noteMembers(history: PoolHistory, claims: readonly Claim[], now: number): PoolHistory {
  const current = claims.filter((claim) => claim.isPreProvisioned && claim.revision === history.revision)
  const readySince = new Map<string, number>()
  for (const claim of current) {
    const since = history.readySince.get(claim.id)
    if (claim.isIdle ? isReady(claim) : since !== undefined || isReady(claim)) readySince.set(claim.id, since ?? now)
  }
  const ids = new Set(current.map(({ id }) => id))
  const counted = new Set([...history.counted].filter((id) => ids.has(id)))
  // A claim that was ready when it was handed out fails because of its caller, and a ready pod is evicted because of its node.
  const isExcused = (claim: Claim): boolean =>
    claim.isIdle
      ? claim.failure === 'disrupted' && history.readySince.has(claim.id)
      : readySince.has(claim.id) || history.isNew
  const fresh = current.filter((claim) => isFailing(claim) && !counted.has(claim.id) && !isExcused(claim))
  for (const claim of current) if (isFailing(claim) && (fresh.includes(claim) || history.isNew)) counted.add(claim.id)
  const last = fresh.at(-1)
  const isProven = history.isProven || readySince.size > 0
  const noted = { ...history, isNew: false, counted, readySince, isProven }
  if (last) {
    // The message of a claimed member may quote its caller's values.
    const lastFailure = last.isIdle ? last.message : 'a member did not become ready after its hand-out'
    return { ...noted, failures: history.failures + 1, failedAt: now, lastFailure }
  }
  // Only a member that is younger than the last failure tells whether the cause is gone.
  const hasRecovered = youngerThanFailure(noted, current).some(
    (claim) => !claim.isIdle || now - (readySince.get(claim.id) ?? now) >= STABLE_MS,
  )
  return hasRecovered ? { ...noted, failures: 0 } : noted
}

function isReady(claim: Claim): boolean {
  return claim.status === 'ready' && !isFailing(claim)
}

/** Members that were ready and were created after the last failure. */
function youngerThanFailure(history: PoolHistory, claims: readonly Claim[]): readonly Claim[] {
  return claims.filter(
    (claim) =>
      claim.revision === history.revision && history.readySince.has(claim.id) && isYoungerThanFailure(history, claim),
  )
}

function isYoungerThanFailure({ failedAt }: PoolHistory, { createdAt }: Claim): boolean {
  return createdAt + CREATION_TOLERANCE_MS > failedAt
}

/** When a member may have been ready for long enough to end a series of failures. Undefined: there is no series or no such member. */
function stableAt(history: PoolHistory, claims: readonly Claim[]): number | undefined {
  if (history.failures === 0) return undefined
  const times = youngerThanFailure(history, claims).flatMap(({ id }) => history.readySince.get(id) ?? [])
  return times.length === 0 ? undefined : Math.min(...times) + STABLE_MS
}

/** Failures that count for the backoff: the first one of a pool that works is replaced at once. */
function backoffSteps({ failures, isProven }: PoolHistory): number {
  return isProven ? failures - 1 : failures
}

/** When the next member may be created: milliseconds since 1970. */
export function nextAttemptAt(history: PoolHistory): number {
  const steps = backoffSteps(history)
  return steps <= 0 ? 0 : history.failedAt + Math.min(MIN_BACKOFF_MS * 2 ** (steps - 1), MAX_BACKOFF_MS)
}

/** How many members may be on their way or, after failures, may be too young to tell whether they stay ready. */
function maxTrials(history: PoolHistory): number {
  if (backoffSteps(history) > 0) return 1
  return history.isProven ? Infinity : MAX_UNPROVEN
}

function trials(history: PoolHistory, healthy: readonly Claim[]): number {
  const isYoung = (claim: Claim): boolean => history.failures > 0 && isYoungerThanFailure(history, claim)
  return healthy.filter((claim) => claim.status !== 'ready' || isYoung(claim)).length
}

/** The members to do without: those that are not ready first, then the youngest. */
function choose(members: readonly Claim[], count: number): readonly Claim[] {
  if (count <= 0) return []
  return members.toSorted((a, b) => rank(a) - rank(b) || byAge(b, a)).slice(0, count)
}

function rank({ status }: Claim): number {
  return status === 'ready' ? 1 : 0
}

/** The oldest first. */
export function byAge(a: Claim, b: Claim): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b)
}
