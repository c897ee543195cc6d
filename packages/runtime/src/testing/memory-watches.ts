import type { Clock, Timer, TransportResponse } from '@tenure/kube'
import { Refusal, statusOf } from './memory-answer.ts'
import { apiVersionOf, metadataForm, resourceOf, wantsMetadata } from './memory-form.ts'
import { childOf, type Json } from './memory-json.ts'
import type { MemoryLists } from './memory-lists.ts'
import type { MemoryObjects } from './memory-objects.ts'
import { type RecordedRequest, selectionOf } from './memory-request.ts'
import type { Change } from './memory-store.ts'
import { WatchStream } from './memory-watch-stream.ts'

export interface MemoryWatchOptions {
  readonly initialEvents: 'serve' | 'refuse' | 'ignore'
  readonly bookmarkEvery: number
  readonly watchChunkBytes: number | undefined
  readonly expiry: 'stream' | 'status'
}

interface OpenWatch {
  readonly stream: WatchStream
  readonly deliver: (change: Change) => void
  readonly bookmark: () => void
}

/** The watches that are open, and how one is opened. */
export class MemoryWatches {
  readonly #objects: MemoryObjects
  readonly #lists: MemoryLists
  readonly #clock: Clock
  readonly #options: MemoryWatchOptions
  readonly #open = new Set<OpenWatch>()
  #held = false

  constructor(objects: MemoryObjects, lists: MemoryLists, clock: Clock, options: MemoryWatchOptions) {
    this.#objects = objects
    this.#lists = lists
    this.#clock = clock
    this.#options = options
    objects.store.onChange((change) => {
      for (const watch of this.#open) watch.deliver(change)
    })
  }

  get size(): number {
    return this.#open.size
  }

  forEach(act: (stream: WatchStream) => void): void {
    for (const { stream } of this.#open) act(stream)
  }

  bookmark(): void {
    for (const watch of this.#open) watch.bookmark()
  }

  hold(): void {
    this.#held = true
    this.forEach((stream) => stream.hold())
  }

  release(count: number): void {
    if (count === Infinity) this.#held = false
    this.forEach((stream) => stream.release(count))
  }

  open(request: RecordedRequest, signal: AbortSignal | undefined): TransportResponse {
    const { query } = request
    this.#checkInitialEvents(query)
    const isStreamingList = this.#options.initialEvents === 'serve' && query['sendInitialEvents'] === 'true'
    const wantsBookmarks = query['allowWatchBookmarks'] === 'true'
    const writer = this.#writer(request)
    const timers: Timer[] = []
    const stream = new WatchStream({
      chunkBytes: this.#options.watchChunkBytes,
      held: this.#held,
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
        if (wantsBookmarks) stream.push(writer.bookmark(this.#objects.store.revision))
      },
    }
    this.#open.add(watch)
    try {
      const from = this.#start(request, stream, isStreamingList)
      if (isStreamingList && wantsBookmarks) stream.push(writer.bookmark(from, true))
      for (const change of this.#objects.store.since(resourceOf(request), from)) watch.deliver(change)
      this.#arm(watch, timers, wantsBookmarks, Number(query['timeoutSeconds'] ?? 0))
    } catch (error) {
      if (!(error instanceof Refusal) || this.#options.expiry === 'status') {
        stream.cancel()
        throw error
      }
      stream.push(line('ERROR', statusOf(error)))
      stream.end()
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: stream }
  }

  #checkInitialEvents(query: RecordedRequest['query']): void {
    const isAsked = query['sendInitialEvents'] !== undefined && this.#options.initialEvents !== 'ignore'
    if (isAsked && (this.#options.initialEvents === 'refuse' || query['resourceVersionMatch'] !== 'NotOlderThan')) {
      throw new Refusal(422, 'Invalid', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch', {
        causes: [{ reason: 'FieldValueForbidden', field: 'sendInitialEvents' }],
      })
    }
  }

  /** Sends the state that a watch begins with, if it does, and tells after which revision changes follow. */
  #start(request: RecordedRequest, stream: WatchStream, isStreamingList: boolean): number {
    const version = request.query['resourceVersion'] ?? ''
    if (!isStreamingList && version !== '' && version !== '0') return Number(version)
    const from = this.#lists.revisionFor(version || undefined, undefined)
    const { added } = this.#writer(request)
    for (const object of this.#objects.store.list(resourceOf(request), from).values()) stream.push(added(object))
    return from
  }

  #arm(watch: OpenWatch, timers: Timer[], wantsBookmarks: boolean, timeoutSeconds: number): void {
    if (timeoutSeconds > 0) timers.push(this.#clock.setTimer(timeoutSeconds * 1000, () => watch.stream.end()))
    const every = this.#options.bookmarkEvery
    if (!wantsBookmarks || every === 0) return
    const slot = timers.length
    const tick = (): void => {
      watch.bookmark()
      timers[slot] = this.#clock.setTimer(every, tick)
    }
    timers[slot] = this.#clock.setTimer(every, tick)
  }

  /** Changes as the lines that a watch with this request's selection and form gets; empty for what it does not see. */
  #writer(request: RecordedRequest): {
    added(object: Json): string
    change(change: Change): string
    bookmark(revision: number, initialEventsEnd?: boolean): string
  } {
    const resource = resourceOf(request)
    const isSelected = selectionOf(request)
    const asMetadata = wantsMetadata(request)
    const form = (object: Json): Json => (asMetadata ? metadataForm(object) : object)
    return {
      added: (object) => (isSelected(object) ? line('ADDED', form(object)) : ''),
      change({ resource: changed, before, after, revision }) {
        if (changed !== resource) return ''
        const was = before !== undefined && isSelected(before)
        if (after && isSelected(after)) return line(was ? 'MODIFIED' : 'ADDED', form(after))
        if (!was) return ''
        const metadata = { ...childOf(before, 'metadata'), resourceVersion: String(revision) }
        return line('DELETED', form({ ...before, metadata }))
      },
      bookmark: (revision, initialEventsEnd = false) =>
        line('BOOKMARK', {
          kind: asMetadata ? 'PartialObjectMetadata' : this.#objects.kindOf(request),
          apiVersion: asMetadata ? 'meta.k8s.io/v1' : apiVersionOf(request),
          metadata: {
            resourceVersion: String(revision),
            creationTimestamp: null,
            ...(initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
          },
        }),
    }
  }
}

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}
