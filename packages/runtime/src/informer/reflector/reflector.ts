import {
  abortReason,
  asError,
  type Clock,
  type Kind,
  type KubeApi,
  kindKey,
  type KubeObject,
  type Random,
  type Selection,
  sleep,
  TenureError,
  type WatchEvent,
} from '@tenure/kube'
import type { LiveCache, Staging } from '../cache/live-cache.ts'
import {
  responded,
  type Machine,
  type ListMode,
  next,
  type Outcome,
  MAX_STALE_LISTS,
  startWith,
  type WatchStep,
} from './state-machine.ts'
import { IdleTimer } from './idle-timer.ts'

export interface ReflectorOptions<T extends KubeObject> {
  readonly api: KubeApi
  readonly kind: Kind<T>
  readonly selection: Selection
  readonly clock: Clock
  readonly random: Random
  readonly cache: LiveCache<T>
  /** Called on every transition, including errors. */
  readonly onTransition: (machine: Machine, outcome: Outcome | undefined) => void
  /** Milliseconds without a byte after which a watch counts as dead. */
  readonly idleTimeout: number
  /** Milliseconds of silence after which initial events without an end count as complete. */
  readonly initialEventsTimeout: number
  /** How the initial state is read at first. */
  readonly mode: ListMode
  /** Items per page of a list. */
  readonly pageSize: number
  /** Field managers whose managedFields entries the cache keeps. */
  readonly keepManagedFieldsOf: readonly string[]
}

/** Maximum milliseconds for the initial events, even if they keep coming. */
const MAX_INITIAL_EVENTS_MS = 300_000
/** Bounds of the random watch timeout in seconds, which spreads reconnections. */
const MIN_WATCH_SECONDS = 300
const MAX_WATCH_SECONDS = 600

interface OpenStream<T extends KubeObject> {
  readonly iterator: AsyncIterator<readonly WatchEvent<T>[]>
  readonly openedAt: number
  /** True if anything arrived. */
  hasData: boolean
  close(reason: Error): void
}

/** Carries out the steps of the state machine, forever. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  #machine: Machine
  #stream: OpenStream<T> | undefined
  /** True if the server has ever sent a bookmark: a watch without any is then dead rather than quiet. */
  #hasBookmarks = false

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#machine = startWith(options.mode)
  }

  /** Resolves only when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { step } = this.#machine
      const outcome = await this.#carryOut(step, signal)
      if (signal.aborted) break
      this.#enter(next(this.#machine, outcome, this.#options.random), outcome)
    }
    this.#closeStream(abortReason(signal))
  }

  #enter(machine: Machine, outcome?: Outcome): void {
    if (machine === this.#machine) return
    this.#machine = machine
    this.#options.onTransition(machine, outcome)
  }

  async #carryOut(step: WatchStep, signal: AbortSignal): Promise<Outcome> {
    const startedAt = this.#options.clock.monotonic()
    try {
      switch (step.at) {
        case 'streaming':
          return await this.#streamList(signal)
        case 'listing':
          return await this.#list(step.paged, signal)
        case 'watching':
          return await this.#watch(step, signal)
        case 'waiting':
          await sleep(this.#options.clock, step.delay, signal)
          return { type: 'waited' }
        default:
          return step satisfies never
      }
    } catch (thrown) {
      const silent = this.#hasBookmarks && this.#stream?.hasData === false
      this.#closeStream(asError(thrown))
      const { cache, clock } = this.#options
      const isWatch = step.at === 'watching'
      return {
        type: 'failed',
        error: asError(thrown),
        resourceVersion: isWatch ? cache.lastSyncResourceVersion : undefined,
        lasted: isWatch ? clock.monotonic() - startedAt : 0,
        silent,
      }
    }
  }

  /** A watch whose first events are the full state, up to a bookmark that marks its end. */
  async #streamList(signal: AbortSignal): Promise<Outcome> {
    const { cache, clock, initialEventsTimeout } = this.#options
    const staging = cache.stage()
    const stream = this.#open({ sendInitialEvents: true }, signal)
    let hasEvents = false
    let isEndless = false
    const timer = new IdleTimer(clock, initialEventsTimeout, MAX_INITIAL_EVENTS_MS, () => {
      isEndless = true
      stream.close(new Error('the initial events have no end'))
    })
    try {
      while (true) {
        const { done, value: batch } = await stream.iterator.next()
        if (done) {
          this.#closeStream(new Error('the watch ended'))
          return { type: 'endless', certain: false }
        }
        timer.touch()
        hasEvents = true
        this.#note(stream, batch)
        const ending = this.#stageBatch(staging, batch)
        if (ending === undefined) continue
        if (!('resourceVersion' in ending)) this.#closeStream(new Error('the watch has no initial events'))
        return ending
      }
    } catch (error) {
      if (!isEndless || signal.aborted) throw error
      this.#closeStream(asError(error))
      return { type: 'endless', certain: hasEvents }
    } finally {
      timer.cancel()
    }
  }

  /** Stages the events of a streaming list; the rest of the batch after its end are changes. */
  #stageBatch(staging: Staging<T>, batch: readonly WatchEvent<T>[]): Outcome | undefined {
    for (const [at, event] of batch.entries()) {
      if (event.type !== 'BOOKMARK') this.#options.cache.add(staging, event.object, event.type)
      // Servers that support streaming lists send no other bookmark before the end.
      else if (!event.initialEventsEnd) return { type: 'endless', certain: true }
      else {
        const outcome = this.#commit(staging, event.resourceVersion, true)
        if (outcome.type === 'listed') this.#options.cache.apply(batch.slice(at + 1))
        return outcome
      }
    }
    return undefined
  }

  /** Lists without a resourceVersion: the latest state, which is never older than the cache. */
  async #list(paged: boolean, signal: AbortSignal): Promise<Outcome> {
    const { api, kind, selection, cache, pageSize, keepManagedFieldsOf } = this.#options
    const staging = cache.stage()
    if (!paged) {
      const list = api.streamList(kind, { ...selection, managedFieldsOf: keepManagedFieldsOf, signal })
      for await (const items of list) for (const item of items) cache.add(staging, item)
      // Committing a partial list would delete all objects that are not in it.
      if (list.metadata?.continue) return { type: 'partial' }
      return this.#commit(staging, list.metadata?.resourceVersion ?? '', false)
    }
    let resourceVersion = ''
    for await (const page of api.pages(kind, { ...selection, limit: pageSize, signal })) {
      resourceVersion ||= page.metadata.resourceVersion
      for (const item of page.items) cache.add(staging, item)
    }
    return this.#commit(staging, resourceVersion, false)
  }

  #commit(staging: Staging<T>, resourceVersion: string, open: boolean): Outcome {
    const { cache, kind } = this.#options
    if (resourceVersion === '') throw unversioned(kind)
    if (cache.isStale(resourceVersion) && this.#machine.staleLists < MAX_STALE_LISTS) {
      return { type: 'stale', error: staleList(kind, resourceVersion, cache.lastSyncResourceVersion ?? '') }
    }
    cache.commit(staging, resourceVersion)
    return { type: 'listed', resourceVersion, open }
  }

  async #watch(step: WatchStep & { at: 'watching' }, signal: AbortSignal): Promise<Outcome> {
    const { cache, clock } = this.#options
    const continued = step.continued ? this.#stream : undefined
    const stream = continued ?? this.#open({ resourceVersion: step.resourceVersion }, signal)
    while (true) {
      const { done, value: batch } = await stream.iterator.next()
      if (done) break
      this.#note(stream, batch)
      cache.apply(batch)
      this.#enter(responded(this.#machine))
    }
    this.#closeStream(new Error('the watch ended'))
    return {
      type: 'closed',
      resourceVersion: cache.lastSyncResourceVersion ?? step.resourceVersion,
      lasted: clock.monotonic() - stream.openedAt,
    }
  }

  #note(stream: OpenStream<T>, batch: readonly WatchEvent<T>[]): void {
    stream.hasData = true
    this.#hasBookmarks ||= batch.some(({ type }) => type === 'BOOKMARK')
  }

  #open(from: { resourceVersion: string } | { sendInitialEvents: true }, signal: AbortSignal): OpenStream<T> {
    const { api, kind, selection, clock, random, idleTimeout } = this.#options
    const abort = new AbortController()
    const onAbort = (): void => abort.abort(abortReason(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    const events = api.watch(kind, {
      ...selection,
      ...from,
      bookmarks: true,
      timeoutSeconds: Math.floor(MIN_WATCH_SECONDS + random.fraction() * (MAX_WATCH_SECONDS - MIN_WATCH_SECONDS)),
      idleTimeout,
      signal: abort.signal,
      onOpen: () => this.#enter(responded(this.#machine)),
    })
    this.#stream = {
      iterator: events[Symbol.asyncIterator](),
      openedAt: clock.monotonic(),
      hasData: false,
      close: (reason) => {
        signal.removeEventListener('abort', onAbort)
        abort.abort(reason)
      },
    }
    return this.#stream
  }

  #closeStream(reason: Error): void {
    this.#stream?.close(reason)
    this.#stream = undefined
  }
}

/** A list without a resourceVersion can neither be watched from nor be compared with the cache. */
function unversioned(kind: Kind): TenureError {
  return new TenureError(
    'TENURE_LIST_UNVERSIONED',
    `The list of ${kindKey(kind)} has no resourceVersion: check that the address is an API server and the kind can be watched. Retrying.`,
    { fate: 'retry' },
  )
}

function staleList(kind: Kind, listed: string, known: string): TenureError {
  return new TenureError(
    'TENURE_LIST_STALE',
    `The API server listed ${kind.plural} as of ${listed} after it had delivered ${known}: one of its caches lags. Retrying.`,
    { fate: 'retry' },
  )
}
