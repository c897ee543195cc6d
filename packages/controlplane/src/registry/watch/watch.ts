import type { Timer } from '@tenure/kube'
import { gone, StatusError } from '../../errors.ts'
import { RevisionCompacted } from '../../storage/types.ts'
import type { Change } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { inVersion } from '../decode/derived-object.ts'
import { checkWatchOptions, parseRevision } from '../options/check-options.ts'
import type { RequestOptions, ResourceResponse, ResourceRequest, WatchItem, WatchSession } from '../request.ts'
import { parseSelection } from '../selectors/selection.ts'
import type { ResourceDefinition } from '../types.ts'
import { shareSelection } from './watch-selection.ts'
import type { WatchSelection, WatchSelectionOptions } from './watch-selection.ts'

const SECOND = 1000
/** Interval of bookmarks, for watches that ask for them. */
const BOOKMARK_INTERVAL_MS = 60 * SECOND
/** A watch with a shorter timeout ends without a bookmark. */
const MIN_BOOKMARK_TIMEOUT_MS = 2 * SECOND
/** A watch without a timeout ends after this time, up to twice as long, so that not all clients reconnect at once. */
const MIN_WATCH_MS = 1800 * SECOND

export function watch(context: RegistryContext, request: ResourceRequest): ResourceResponse {
  const { definition, options } = request
  checkWatchOptions(options)
  const { resourceVersion } = options
  const from = parseRevision(
    resourceVersion,
    (why) => new StatusError(500, '', `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${why}`),
  )
  const { matches, fields } = parseSelection(options, definition)
  const namespace = request.namespace ?? (definition.namespaced ? fields.namespace : undefined)
  const { sendInitialEvents, allowWatchBookmarks = false } = options
  const timeout =
    options.timeoutSeconds !== undefined && options.timeoutSeconds > 0
      ? options.timeoutSeconds * SECOND
      : MIN_WATCH_MS * (1 + context.random.fraction())
  const session = new Session(context, {
    selecting: { definition, namespace, matches },
    selectors: options,
    from: from ?? 0,
    // Unset and "0" send the current state first, unless sendInitialEvents is false.
    initial: sendInitialEvents ?? (from ?? 0) === 0,
    endOfInitial: sendInitialEvents === true && allowWatchBookmarks,
    bookmarks: allowWatchBookmarks,
    timeout,
    signal: request.signal,
  })
  return { type: 'watch', session }
}

interface SessionOptions {
  readonly selecting: WatchSelectionOptions
  readonly selectors: RequestOptions
  readonly from: number
  readonly initial: boolean
  readonly endOfInitial: boolean
  readonly bookmarks: boolean
  readonly timeout: number
  readonly signal: AbortSignal
}

class Session implements WatchSession {
  readonly #context: RegistryContext
  readonly #options: SessionOptions
  #selection: WatchSelection | undefined
  #release: (() => void) | undefined
  #send: ((item: WatchItem) => void) | undefined
  #ended: (() => void) | undefined
  #stopWatching: (() => void) | undefined
  #stopFollowing: (() => void) | undefined
  #timeout: Timer | undefined
  #bookmark: Timer | undefined
  #isClosed = false
  readonly #onAbort = (): void => this.close()

  constructor(context: RegistryContext, options: SessionOptions) {
    this.#context = context
    this.#options = options
  }

  open(send: (item: WatchItem) => void, ended: () => void): void {
    const { storage, clock } = this.#context
    const { selecting, selectors, from, initial, endOfInitial, bookmarks, timeout, signal } = this.#options
    const { definition, namespace } = selecting
    this.#send = send
    this.#ended = ended
    if (signal.aborted) return this.close()
    const { selection, release } = shareSelection(selecting, selectors)
    this.#selection = selection
    this.#release = release
    signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#timeout = clock.setTimer(timeout, () => this.#expire())
    this.#followDefinition(definition)
    if (bookmarks) this.#armBookmark()
    // A future revision does not delay the watch: older changes are just not sent.
    let start = Math.min(from, storage.revision)
    if (initial) {
      start = storage.revision
      for (const stored of storage.range(definition.bucket, { namespace })) {
        if (this.#isClosed) return
        if (selection.selects(stored)) send({ type: 'ADDED', stored: inVersion(stored, definition) })
      }
      if (endOfInitial && !this.#isClosed) send({ type: 'BOOKMARK', revision: start, initialEventsEnd: true })
    } else if (from === 0) start = storage.revision
    if (this.#isClosed) return
    try {
      const stop = storage.watch(definition.bucket, start, (change) => this.#onChange(change))
      if (this.#isClosed) stop()
      else this.#stopWatching = stop
    } catch (error) {
      if (!(error instanceof RevisionCompacted)) throw error
      // As in kube-apiserver, the error is an event of the stream, because the request itself was valid.
      send({ type: 'ERROR', error: gone(`too old resource version: ${from} (${error.oldest})`) })
      this.close()
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#timeout?.cancel()
    this.#bookmark?.cancel()
    this.#stopWatching?.()
    this.#stopFollowing?.()
    this.#release?.()
    this.#ended?.()
    this.#send = undefined
  }

  #onChange(change: Change): void {
    if (this.#isClosed || change.revision <= this.#options.from) return
    const item = this.#selection?.itemFor(change)
    if (item) this.#send?.(item)
  }

  /** A watch serves one definition: it ends when that changes, and the next watch serves the new one. */
  #followDefinition({ group, version, plural, storedReader }: ResourceDefinition): void {
    if (!storedReader) return
    const { catalog } = this.#context
    this.#stopFollowing = catalog.onChange(() => {
      if (catalog.find(group, version, plural)?.storedReader?.epoch !== storedReader.epoch) this.close()
    })
  }

  #armBookmark(): void {
    this.#bookmark = this.#context.clock.setTimer(BOOKMARK_INTERVAL_MS, () => {
      this.#sendBookmark()
      if (!this.#isClosed) this.#armBookmark()
    })
  }

  #sendBookmark(): void {
    const revision = Math.max(this.#context.storage.revision, this.#options.from)
    this.#send?.({ type: 'BOOKMARK', revision, initialEventsEnd: false })
  }

  /** Sends a last bookmark, so that the next watch starts where this one ends. */
  #expire(): void {
    if (this.#options.bookmarks && this.#options.timeout > MIN_BOOKMARK_TIMEOUT_MS) this.#sendBookmark()
    this.close()
  }
}
