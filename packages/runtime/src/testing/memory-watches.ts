import type { Clock, Timer, TransportResponse } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { ControlledStream } from './controlled-stream.ts'
import { type MemoryObjects, metadataOf } from './memory-objects.ts'
import type { MemoryChange } from './memory-store.ts'
import { type RecordedRequest, selectionOf } from './recorded-request.ts'
import { apiVersionOf, asMetadata, resourceOf, wantsMetadata } from './representation.ts'
import { RequestError, statusOf } from './responses.ts'

export interface MemoryWatchOptions {
  /** How watches with `sendInitialEvents` are answered: served, rejected (422), or ignored as by an old server. Default `serve`. */
  readonly initialEvents?: 'serve' | 'refuse' | 'ignore'
  /** Milliseconds between the bookmarks of a watch that requests them; 0 sends none. Default 60,000. */
  readonly bookmarkEvery?: number
  /** Bytes per chunk of a watch. Default: all available bytes at once. */
  readonly watchChunkBytes?: number
  /** How a watch from an expired resourceVersion fails: in the stream, as real servers do, or by status. Default `stream`. */
  readonly expiry?: 'stream' | 'status'
}

interface OpenWatch {
  readonly stream: ControlledStream
  readonly deliver: (change: MemoryChange) => void
  readonly bookmark: () => void
}

/** The open watches. */
export class MemoryWatches {
  readonly #objects: MemoryObjects
  readonly #clock: Clock
  readonly #options: MemoryWatchOptions
  readonly #open = new Set<OpenWatch>()
  #isHeld = false

  constructor(objects: MemoryObjects, clock: Clock, options: MemoryWatchOptions) {
    this.#objects = objects
    this.#clock = clock
    this.#options = options
    objects.store.onChange((change) => {
      for (const watch of this.#open) watch.deliver(change)
    })
  }

  get size(): number {
    return this.#open.size
  }

  forEach(act: (stream: ControlledStream) => void): void {
    for (const { stream } of this.#open) act(stream)
  }

  bookmark(): void {
    for (const watch of this.#open) watch.bookmark()
  }

  hold(): void {
    this.#isHeld = true
    this.forEach((stream) => stream.hold())
  }

  release(count: number): void {
    if (count === Infinity) this.#isHeld = false
    this.forEach((stream) => stream.release(count))
  }

  open(request: RecordedRequest, signal: AbortSignal | undefined): TransportResponse {
    const { query } = request
    const { initialEvents = 'serve', expiry = 'stream', watchChunkBytes } = this.#options
    const { store } = this.#objects
    if (initialEvents === 'refuse' && query['sendInitialEvents'] !== undefined) {
      throw new RequestError(422, 'Invalid', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch')
    }
    const isStreamingList = initialEvents === 'serve' && query['sendInitialEvents'] === 'true'
    const hasBookmarks = query['allowWatchBookmarks'] === 'true'
    const writer = this.#writer(request)
    const timers: Timer[] = []
    const stream = new ControlledStream({
      chunkBytes: watchChunkBytes,
      isHeld: this.#isHeld,
      signal,
      onClose: () => {
        this.#open.delete(watch)
        for (const timer of timers) timer.cancel()
      },
    })
    const watch: OpenWatch = {
      stream,
      deliver: (change) => stream.push(writer.change(change)),
      bookmark: () => {
        if (hasBookmarks) stream.push(writer.bookmark(store.revision))
      },
    }
    this.#open.add(watch)
    try {
      const version = query['resourceVersion'] ?? ''
      const isFromStart = isStreamingList || version === '' || version === '0'
      const from = isFromStart ? store.revision : Number(version)
      if (isFromStart) for (const object of store.list(resourceOf(request))) stream.push(writer.added(object))
      if (isStreamingList && hasBookmarks) stream.push(writer.bookmark(from, true))
      for (const change of store.since(resourceOf(request), from)) watch.deliver(change)
      this.#arm(watch, timers, hasBookmarks, Number(query['timeoutSeconds'] ?? 0))
    } catch (error) {
      if (!(error instanceof RequestError) || expiry === 'status') {
        stream.cancel()
        throw error
      }
      stream.push(line('ERROR', statusOf(error)))
      stream.end()
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: stream }
  }

  #arm(watch: OpenWatch, timers: Timer[], hasBookmarks: boolean, timeoutSeconds: number): void {
    if (timeoutSeconds > 0) timers.push(this.#clock.setTimer(timeoutSeconds * 1000, () => watch.stream.end()))
    const { bookmarkEvery = 60_000 } = this.#options
    if (!hasBookmarks || bookmarkEvery === 0) return
    const slot = timers.length
    const tick = (): void => {
      watch.bookmark()
      timers[slot] = this.#clock.setTimer(bookmarkEvery, tick)
    }
    timers[slot] = this.#clock.setTimer(bookmarkEvery, tick)
  }

  /** Formats changes for a watch; an empty string for those that it does not select. */
  #writer(request: RecordedRequest): {
    added(object: JsonObject): string
    change(change: MemoryChange): string
    bookmark(revision: number, isInitialEventsEnd?: boolean): string
  } {
    const resource = resourceOf(request)
    const isSelected = selectionOf(request)
    const isMetadata = wantsMetadata(request)
    const represented = (object: JsonObject): JsonObject => (isMetadata ? asMetadata(object) : object)
    return {
      added: (object) => (isSelected(object) ? line('ADDED', represented(object)) : ''),
      change({ resource: changed, before, after, revision }) {
        if (changed !== resource) return ''
        const wasSelected = before !== undefined && isSelected(before)
        if (after && isSelected(after)) return line(wasSelected ? 'MODIFIED' : 'ADDED', represented(after))
        if (!wasSelected) return ''
        const metadata = { ...metadataOf(before), resourceVersion: String(revision) }
        return line('DELETED', represented({ ...before, metadata }))
      },
      bookmark: (revision, isInitialEventsEnd = false) =>
        line('BOOKMARK', {
          kind: isMetadata ? 'PartialObjectMetadata' : this.#objects.kindOf(request),
          apiVersion: isMetadata ? 'meta.k8s.io/v1' : apiVersionOf(request),
          metadata: {
            resourceVersion: String(revision),
            creationTimestamp: null,
            ...(isInitialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
          },
        }),
    }
  }
}

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}
