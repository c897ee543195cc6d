import { ApiError, isGone, isNotFound, jitter, type Random, TenureError } from '@tenure/kube'

/**
 * How the whole state is asked for. In one answer, which takes a server the least time; as the first events of a watch
 * (`sendInitialEvents`), which takes a server from before 1.33 the least memory; or in pages, where neither goes through.
 */
export type ListMode = 'whole' | 'streamed' | 'paged'

/** What an informer is doing. Each step is carried out by the watcher and ends with an Outcome, which decides the next. */
export type Step =
  /** A watch that begins with the whole state and goes on with changes. */
  | { readonly at: 'streaming' }
  /** A list, in one piece or in pages of one snapshot; a watch follows it. */
  | { readonly at: 'listing'; readonly paged: boolean }
  /** A watch from a resourceVersion; `continued` is the one that brought the state and is still open. */
  | { readonly at: 'watching'; readonly resourceVersion: string; readonly continued: boolean }
  /** A pause after a failure, then the watch from `resume`, or a list if that is undefined. */
  | { readonly at: 'waiting'; readonly delay: number; readonly resume: string | undefined }

export type Outcome =
  /** The whole state is in the cache. `open`: the watch that brought it goes on. */
  | { readonly type: 'listed'; readonly resourceVersion: string; readonly open: boolean }
  /** It was asked for in one piece, and the server kept a part of it back: the rest comes in pages. */
  | { readonly type: 'partial' }
  /** The server listed a state from before one it had already shown. */
  | { readonly type: 'stale'; readonly error: Error }
  /** No end of the initial events. `certain`: the server showed that it does not know them, rather than that it is slow. */
  | { readonly type: 'endless'; readonly certain: boolean }
  /** The server ended the watch as it may. `lasted` is in milliseconds. */
  | { readonly type: 'closed'; readonly resourceVersion: string; readonly lasted: number }
  /** `resourceVersion` is how far the watch got; undefined while listing. */
  | {
      readonly type: 'failed'
      readonly error: Error
      readonly resourceVersion: string | undefined
      readonly lasted: number
      /** Nothing at all came on it, from a server that sends bookmarks. */
      readonly silent: boolean
    }
  | { readonly type: 'waited' }

export interface Machine {
  readonly step: Step
  readonly mode: ListMode
  /** Failures since the last healthy stretch: they set the pause. */
  readonly failures: number
  /** Lists in a row that were older than what was already seen. */
  readonly staleLists: number
  /** Why there is no connection now; undefined while all is well. */
  readonly error: Error | undefined
}

const FIRST_PAUSE = 800
const LONGEST_PAUSE = 30_000
const PAUSE_JITTER = 0.25
/** A watch that lasted this long proves the way to the server is good: failures are counted anew. */
const HEALTHY_STRETCH = 60_000
/** Watches closed at once are nobody's failure at first, but these many in a row are. */
const EARLY_CLOSES = 3
/** So many failures at one resourceVersion, and it may be that one which can not be read: list instead. */
const STUCK_AFTER = 5
/** So many stale lists in a row are no lag: the server was restored from a backup, and what it says counts. */
export const STALE_LISTS = 3

export function startWith(mode: ListMode): Machine {
  return { step: listStep(mode), mode, failures: 0, staleLists: 0, error: undefined }
}

/** Every transition there is. Pure but for the jitter. */
export function next(machine: Machine, outcome: Outcome, random: Random): Machine {
  switch (outcome.type) {
    case 'listed': {
      const { resourceVersion, open } = outcome
      const step: Step = { at: 'watching', resourceVersion, continued: open }
      return { ...machine, step, staleLists: 0, error: undefined }
    }
    case 'stale':
      return pause({ ...machine, staleLists: machine.staleLists + 1 }, undefined, outcome.error, random)
    case 'partial':
      return { ...machine, mode: 'paged', step: listStep('paged') }
    case 'endless':
      return { ...machine, mode: outcome.certain ? 'paged' : machine.mode, step: listStep('paged') }
    case 'closed':
      return afterClose(rested(machine, outcome.lasted), outcome, random)
    case 'failed':
      return afterFailure(rested(machine, outcome.lasted), outcome, random)
    case 'waited': {
      const resume = machine.step.at === 'waiting' ? machine.step.resume : undefined
      return { ...machine, step: resume === undefined ? listStep(machine.mode) : watchStep(resume) }
    }
    default:
      return outcome satisfies never
  }
}

/** The server answered: whatever was wrong is not wrong any more. */
export function answered(machine: Machine): Machine {
  return machine.error ? { ...machine, error: undefined } : machine
}

function listStep(mode: ListMode): Step {
  return mode === 'streamed' ? { at: 'streaming' } : { at: 'listing', paged: mode === 'paged' }
}

function watchStep(resourceVersion: string): Step {
  return { at: 'watching', resourceVersion, continued: false }
}

function rested(machine: Machine, lasted: number): Machine {
  return lasted >= HEALTHY_STRETCH ? { ...machine, failures: 0 } : machine
}

function afterClose(machine: Machine, outcome: Outcome & { type: 'closed' }, random: Random): Machine {
  if (outcome.lasted >= HEALTHY_STRETCH) return { ...machine, step: watchStep(outcome.resourceVersion) }
  const error = machine.failures + 1 < EARLY_CLOSES ? undefined : closedEarly(outcome.lasted)
  return pause(machine, outcome.resourceVersion, error, random)
}

function afterFailure(machine: Machine, outcome: Outcome & { type: 'failed' }, random: Random): Machine {
  const { error, resourceVersion } = outcome
  switch (machine.step.at) {
    case 'streaming':
      if (isRefused(error)) return { ...machine, mode: 'paged', step: listStep('paged') }
      return pause(machine, undefined, error, random)
    case 'listing':
      // The snapshot behind the pages expired: too many pages for it to live through, so all in one piece.
      if (isGone(error) && machine.step.paged && machine.failures === 0) {
        return { ...machine, failures: 1, step: listStep('whole') }
      }
      return pause(isAnswer(error) && !isGone(error) ? machine : withOtherListMode(machine), undefined, error, random)
    case 'watching':
    case 'waiting':
      if (isGone(error) && machine.failures === 0) return { ...machine, failures: 1, step: listStep(machine.mode) }
      return pause(machine, mustList(machine, outcome) ? undefined : resourceVersion, error, random)
    default:
      return machine.step satisfies never
  }
}

function pause(machine: Machine, resume: string | undefined, error: Error | undefined, random: Random): Machine {
  const base = Math.min(FIRST_PAUSE * 2 ** machine.failures, LONGEST_PAUSE)
  const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0
  // Never before the server wants it, and not with everybody else at that very moment.
  const delay = Math.max(jitter(random, base, PAUSE_JITTER), asked + random.fraction() * FIRST_PAUSE)
  return {
    ...machine,
    failures: machine.failures + 1,
    step: { at: 'waiting', delay, resume },
    error: error ?? machine.error,
  }
}

/** A list that is cut short on its way, takes a server too long or outlives its snapshot may go through in the other mode. */
function withOtherListMode(machine: Machine): Machine {
  const isPaged = machine.step.at === 'listing' && machine.step.paged
  return machine.mode === 'streamed' ? machine : { ...machine, mode: isPaged ? 'whole' : 'paged' }
}

/** Whether the server said no, rather than nothing or that it can not. */
function isAnswer(error: Error): boolean {
  return error instanceof ApiError && error.status < 500
}

/** 400 and 422 are how servers say that they do not know `sendInitialEvents`, or not for this kind. */
function isRefused(error: Error): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422)
}

/** What a watch says of an event, rather than of the connection: the same event would come again. */
const UNREADABLE = new Set(['TENURE_WATCH_UNREADABLE', 'TENURE_WATCH_LINE_TOO_LONG'])

/**
 * Whether watching on from where it stopped is hopeless. A server that was restored from a backup accepts a watch from
 * a version that it has not come to yet, and says nothing until then: only a list shows that.
 */
function mustList(machine: Machine, { error, silent }: Outcome & { type: 'failed' }): boolean {
  if (isGone(error) || isNotFound(error) || isRefused(error)) return true
  const isAccepted = machine.error === undefined
  if (isAccepted && silent && error instanceof TenureError && error.code === 'TENURE_WATCH_QUIET') return true
  const isAboutContent = error instanceof ApiError || (error instanceof TenureError && UNREADABLE.has(error.code))
  return isAboutContent && machine.failures >= STUCK_AFTER
}

function closedEarly(lasted: number): TenureError {
  return new TenureError(
    'TENURE_WATCH_CLOSED_EARLY',
    `The API server, or a proxy before it, ends watches after ${Math.round(lasted)} ms, again and again: look for its time-outs.`,
    { fate: 'retry' },
  )
}
