import { zeroValueOf } from '../../apply/zero-values.ts'
import { StatusError, statusBody } from '../../errors.ts'
import { apiVersionOf } from '../../registry/decode/decode.ts'
import type { WatchItem, WatchSession } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { StoredObject } from '../../storage/types.ts'
import { partial, tableEvent } from '../encoding/encode.ts'
import type { EncodeOptions } from '../encoding/encode.ts'
import { sharedBytes } from './shared-bytes.ts'
import type { SharedBytes } from './shared-bytes.ts'

/** Pending events above which a slow reader is cut off; it lists and watches again. */
const MAX_PENDING_EVENTS = 20_000
/** Characters of JSON in pending events above which a slow reader is cut off, because they outlive the history. */
const MAX_PENDING_CHARACTERS = 64_000_000
/** The size of pending events is computed at this number and at each doubling: readers that keep up cost nothing. */
const FIRST_SIZE_CHECK = 16

/**
 * The pending events of one watch. They are references to shared objects and are encoded when the reader takes them; the
 * bytes of an event are made once for all watches.
 */
export class WatchFeed {
  readonly #session: WatchSession
  readonly #options: EncodeOptions
  /** Undefined for tables, which are encoded for each watch. */
  readonly #shared: SharedBytes | undefined
  #waiting: WatchItem[] = []
  #next = 0
  #limit = Infinity
  /** How many of the pending events belong to the initial state. */
  #initial = 0
  #isOver = false
  #isFirst = true
  #wasCut = false
  #onReadable: () => void = () => undefined
  #onClosed: () => void = () => undefined

  constructor(session: WatchSession, options: EncodeOptions) {
    this.#session = session
    this.#options = options
    const { content, version } = options.representation
    this.#shared = content === 'table' ? undefined : sharedBytes(`${content}/${version}`)
  }

  /** Starts the watch; `onReadable` is called when events may be pending or the watch has ended. */
  open(onReadable: () => void): void {
    this.#onReadable = onReadable
    this.#session.open(
      (item) => this.#push(item),
      () => {
        this.#isOver = true
        this.#onClosed()
        this.#onReadable()
      },
    )
    // The initial state does not count against the reader.
    this.#initial = this.#waiting.length - this.#next
    this.#limit = this.#waiting.length + MAX_PENDING_EVENTS
  }

  /** True if no more events follow. */
  get isOver(): boolean {
    return this.#isOver && this.#next >= this.#waiting.length
  }

  /** True if the reader was too slow; its pending events are dropped. */
  get wasCut(): boolean {
    return this.#wasCut
  }

  /** Calls back, at least once, when the watch has ended or is closed. */
  whenClosed(callback: () => void): void {
    this.#onClosed = callback
  }

  /** Ends the watch after its pending events. */
  end(): void {
    this.#session.close()
  }

  close(): void {
    this.#onClosed()
    this.#waiting = []
    this.#next = 0
    this.#onReadable = () => undefined
    this.#session.close()
  }

  /** The next events, about `most` bytes; undefined if none are pending. */
  take(most: number): Buffer | undefined {
    const first = this.#waiting[this.#next]
    if (!first) return undefined
    const sent = this.#shared?.batch(this.#waiting, this.#next)
    if (sent) {
      this.#next += sent.count
      this.#release(sent.count)
      return sent.bytes
    }
    const start = this.#next
    const chunks: Buffer[] = []
    let size = 0
    let last = first
    while (this.#next < this.#waiting.length && size < most) {
      last = this.#waiting[this.#next++] ?? last
      const chunk = this.#encode(last)
      chunks.push(chunk)
      size += chunk.length
    }
    const count = this.#next - start
    this.#release(count)
    if (count === 1) return chunks[0]
    const bytes = Buffer.concat(chunks, size)
    this.#shared?.keepBatch(first, { last, count, bytes })
    return bytes
  }

  /** Releases the events that were taken. */
  #release(count: number): void {
    this.#initial = Math.max(this.#initial - count, 0)
    if (this.#next >= this.#waiting.length) {
      this.#waiting = []
      this.#next = 0
    } else if (this.#next > 1000) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
  }

  #push(item: WatchItem): void {
    const behind = this.#waiting.length - this.#next
    if (behind >= this.#limit || this.#isTooLarge(behind - this.#initial)) {
      this.#wasCut = true
      this.#waiting = []
      this.#next = 0
      this.#session.close()
      return
    }
    this.#waiting.push(item)
    this.#onReadable()
  }

  #isTooLarge(behind: number): boolean {
    const isDoubled = behind >= FIRST_SIZE_CHECK && (behind & (behind - 1)) === 0
    if (!isDoubled || this.#limit === Infinity) return false
    let size = 0
    for (let index = this.#next + this.#initial; index < this.#waiting.length; index++) {
      const item = this.#waiting[index]
      if (item && 'stored' in item) size += item.stored.json.length
    }
    return size > MAX_PENDING_CHARACTERS
  }

  #encode(item: WatchItem): Buffer {
    const { definition, representation } = this.#options
    switch (item.type) {
      case 'ERROR': {
        const { error } = item
        const status = error instanceof StatusError ? error : new StatusError(500, 'InternalError', error.message)
        return Buffer.from(`{"type":"ERROR","object":${JSON.stringify(statusBody(status))}}\n`)
      }
      case 'BOOKMARK': {
        const annotations = item.initialEventsEnd ? ',"annotations":{"k8s.io/initial-events-end":"true"}' : ''
        const [kind, apiVersion] =
          representation.content === 'metadata'
            ? ['PartialObjectMetadata', `meta.k8s.io/${representation.version}`]
            : [definition.kind, apiVersionOf(definition)]
        const rest = representation.content === 'metadata' ? '' : emptyFields(definition)
        const object = `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${item.revision}"${annotations}}${rest}}`
        return Buffer.from(
          `{"type":"BOOKMARK","object":${representation.content === 'table' ? bookmarkTable(object, item.revision) : object}}\n`,
        )
      }
      default:
        return this.#encodeChange(item.type, item.stored)
    }
  }

  #encodeChange(type: 'ADDED' | 'MODIFIED' | 'DELETED', stored: StoredObject): Buffer {
    const { content, version } = this.#options.representation
    if (content === 'table') {
      const text = tableEvent(stored, this.#isFirst, this.#options)
      this.#isFirst = false
      return Buffer.from(`{"type":"${type}","object":${text}}\n`)
    }
    const line = (): string => {
      const text = content === 'metadata' ? partial(stored.object, version) : stored.json
      return `{"type":"${type}","object":${text}}\n`
    }
    return this.#shared?.event(type, stored, line) ?? Buffer.from(line())
  }
}

const empties = new WeakMap<ResourceDefinition, string>()

/** Fields of a bookmark besides its metadata: Go writes some fields of built-in kinds even when they are empty. */
function emptyFields(definition: ResourceDefinition): string {
  let text = empties.get(definition)
  if (text === undefined) {
    const { kind, schema, resolve } = definition
    const { metadata: _, kind: __, ...zero } = zeroValueOf(schema, resolve, { kind })
    const parts = Object.entries(zero).map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    empties.set(definition, (text = parts.join('')))
  }
  return text
}

function bookmarkTable(object: string, revision: number): string {
  return `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"${revision}"},"columnDefinitions":null,"rows":[{"cells":[],"object":${object}}]}`
}
