import { ApiError, isGone, isNotFound, jitter, type Random, TenureError } from '@tenure/kube'

/**
 * How the initial state is read: as one list, which costs the server least time; as watch events (`sendInitialEvents`),
 * which costs a server before 1.33 least memory; or in pages, if neither succeeds.
 */
export type ListMode = 'full' | 'streaming' | 'paged'

/** State of the informer. The reflector carries out each step; its Outcome determines the next one. */
export type WatchStep =
  /** A watch that starts with the full state and continues with changes. */
  | { readonly at: 'streaming' }
  /** A full list or pages of one snapshot, followed by a watch. */
  | { readonly at: 'listing'; readonly paged: boolean }
  /** A watch from a resourceVersion. `continued`: the open watch that delivered the initial state. */
  | { readonly at: 'watching'; readonly resourceVersion: string; readonly continued: boolean }
  /** A delay after a failure, then a watch from `resume`, or a list if that is undefined. */
  | { readonly at: 'waiting'; readonly delay: number; readonly resume: string | undefined }

export type Outcome =
  /** The full state is in the cache. `open`: the watch that delivered it stays open. */
  | { readonly type: 'listed'; readonly resourceVersion: string; readonly open: boolean }
  /** The server returned part of a full list: the informer must page. */
  | { readonly type: 'partial' }
  /** The list is older than a state that the server had already delivered. */
  | { readonly type: 'stale'; readonly error: Error }
  /** The initial events have no end. `certain`: the server does not support them, rather than being slow. */
  | { readonly type: 'endless'; readonly certain: boolean }
  /** The server ended the watch normally. `lasted` is in milliseconds. */
  | { readonly type: 'closed'; readonly resourceVersion: string; readonly lasted: number }
  /** `resourceVersion` is the last one that the watch delivered; undefined while listing. */
  | {
      readonly type: 'failed'
      readonly error: Error
      readonly resourceVersion: string | undefined
      readonly lasted: number
      /** Nothing arrived, although the server sends bookmarks. */
      readonly silent: boolean
    }
  | { readonly type: 'waited' }

export interface Machine {
  readonly step: WatchStep
  readonly mode: ListMode
  /** Failures since the last healthy watch; they determine the delay. */
  readonly failures: number
  /** Consecutive lists that were older than the cache. */
  readonly staleLists: number
  /** Why the informer is disconnected; undefined while it is healthy. */
  readonly error: Error | undefined
}

const MIN_BACKOFF_MS = 800
const MAX_BACKOFF_MS = 30_000
const BACKOFF_JITTER = 0.25
/** Milliseconds after which an open watch resets the failure count. */
const HEALTHY_WATCH_MS = 60_000
/** Number of consecutive early closes that count as a failure. */
const MAX_EARLY_CLOSES = 3
/** Number of failures at one resourceVersion after which the informer lists instead: that version may be unreadable. */
const MAX_FAILURES_PER_VERSION = 5
/** Number of consecutive stale lists after which the list is accepted: the server was restored from a backup. */
export const MAX_STALE_LISTS = 3

export function startWith(mode: ListMode): Machine {
  return { step: listStep(mode), mode, failures: 0, staleLists: 0, error: undefined }
}

/** The transition function. Pure except for jitter. */
export function next(machine: Machine, outcome: Outcome, random: Random): Machine {
  switch (outcome.type) {
    case 'listed': {
      const { resourceVersion, open } = outcome
      const step: WatchStep = { at: 'watching', resourceVersion, continued: open }
      return { ...machine, step, staleLists: 0, error: undefined }
    }
    case 'stale':
      return backOff({ ...machine, staleLists: machine.staleLists + 1 }, undefined, outcome.error, random)
    case 'partial':
      return { ...machine, mode: 'paged', step: listStep('paged') }
    case 'endless':
      return { ...machine, mode: outcome.certain ? 'paged' : machine.mode, step: listStep('paged') }
    case 'closed':
      return afterClose(resetAfterHealthyWatch(machine, outcome.lasted), outcome, random)
    case 'failed':
      return afterFailure(resetAfterHealthyWatch(machine, outcome.lasted), outcome, random)
    case 'waited': {
      const resume = machine.step.at === 'waiting' ? machine.step.resume : undefined
      return { ...machine, step: resume === undefined ? listStep(machine.mode) : watchStep(resume) }
    }
    default:
      return outcome satisfies never
  }
}

/** The server responded: clears the error. */
export function responded(machine: Machine): Machine {
  return machine.error ? { ...machine, error: undefined } : machine
}

function listStep(mode: ListMode): WatchStep {
  return mode === 'streaming' ? { at: 'streaming' } : { at: 'listing', paged: mode === 'paged' }
}

function watchStep(resourceVersion: string): WatchStep {
  return { at: 'watching', resourceVersion, continued: false }
}

function resetAfterHealthyWatch(machine: Machine, lasted: number): Machine {
  return lasted >= HEALTHY_WATCH_MS ? { ...machine, failures: 0 } : machine
}

function afterClose(machine: Machine, outcome: Outcome & { type: 'closed' }, random: Random): Machine {
  if (outcome.lasted >= HEALTHY_WATCH_MS) return { ...machine, step: watchStep(outcome.resourceVersion) }
  const error = machine.failures + 1 < MAX_EARLY_CLOSES ? undefined : closedEarly(outcome.lasted)
  return backOff(machine, outcome.resourceVersion, error, random)
}

function afterFailure(machine: Machine, outcome: Outcome & { type: 'failed' }, random: Random): Machine {
  const { error, resourceVersion } = outcome
  switch (machine.step.at) {
    case 'streaming':
      if (isUnsupported(error)) return { ...machine, mode: 'paged', step: listStep('paged') }
      return backOff(machine, undefined, error, random)
    case 'listing':
      // The snapshot of the pages expired: there are too many pages, so try one full list.
      if (isGone(error) && machine.step.paged && machine.failures === 0) {
        return { ...machine, failures: 1, step: listStep('full') }
      }
      return backOff(
        isRejection(error) && !isGone(error) ? machine : withOtherListMode(machine),
        undefined,
        error,
        random,
      )
    case 'watching':
    case 'waiting':
      if (isGone(error) && machine.failures === 0) return { ...machine, failures: 1, step: listStep(machine.mode) }
      return backOff(machine, mustList(machine, outcome) ? undefined : resourceVersion, error, random)
    default:
      return machine.step satisfies never
  }
}

function backOff(machine: Machine, resume: string | undefined, error: Error | undefined, random: Random): Machine {
  const base = Math.min(MIN_BACKOFF_MS * 2 ** machine.failures, MAX_BACKOFF_MS)
  const retryAfter = error instanceof ApiError ? (error.retryAfter ?? 0) : 0
  // Not before the server's Retry-After, and spread out after it.
  const delay = Math.max(jitter(random, base, BACKOFF_JITTER), retryAfter + random.fraction() * MIN_BACKOFF_MS)
  return {
    ...machine,
    failures: machine.failures + 1,
    step: { at: 'waiting', delay, resume },
    error: error ?? machine.error,
  }
}

/** A list that is truncated, times out or outlives its snapshot may succeed in the other mode. */
function withOtherListMode(machine: Machine): Machine {
  const isPaged = machine.step.at === 'listing' && machine.step.paged
  return machine.mode === 'streaming' ? machine : { ...machine, mode: isPaged ? 'full' : 'paged' }
}

/** True if the server rejected the request, rather than failing or not responding. */
function isRejection(error: Error): boolean {
  return error instanceof ApiError && error.status < 500
}

/** Servers answer 400 or 422 if they do not support `sendInitialEvents`, or not for this kind. */
function isUnsupported(error: Error): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422)
}

/** Errors that concern an event, not the connection: the same event would come again. */
const UNREADABLE = new Set(['TENURE_WATCH_UNREADABLE', 'TENURE_WATCH_LINE_TOO_LONG'])

/**
 * True if resuming the watch cannot succeed. A server that was restored from a backup accepts a watch from a future
 * version and stays silent; only a list reveals that.
 */
function mustList(machine: Machine, { error, silent }: Outcome & { type: 'failed' }): boolean {
  if (isGone(error) || isNotFound(error) || isUnsupported(error)) return true
  const isAccepted = machine.error === undefined
  if (isAccepted && silent && error instanceof TenureError && error.code === 'TENURE_WATCH_QUIET') return true
  const isAboutContent = error instanceof ApiError || (error instanceof TenureError && UNREADABLE.has(error.code))
  return isAboutContent && machine.failures >= MAX_FAILURES_PER_VERSION
}

function closedEarly(lasted: number): TenureError {
  return new TenureError(
    'TENURE_WATCH_CLOSED_EARLY',
    `The API server or a proxy repeatedly ends watches after ${Math.round(lasted)} ms: check its timeouts.`,
    { fate: 'retry' },
  )
}
