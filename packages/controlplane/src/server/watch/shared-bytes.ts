import type { WatchItem } from '../../registry/request.ts'
import type { StoredObject } from '../../storage/types.ts'

/** Few are enough: all watches send an event at about the same time. */
const MOST_EVENTS = 64
const MOST_BATCHES = 8
/** Larger ones are what a watch begins with, which is nobody else's. */
const LARGEST_BATCH = 64 * 1024

interface Batch {
  readonly last: WatchItem
  readonly count: number
  readonly bytes: Buffer
}

/** The bytes of the last events in one form, made once for all watches that send them. */
export class SharedBytes {
  readonly #events = {
    ADDED: new Map<StoredObject, Buffer>(),
    MODIFIED: new Map<StoredObject, Buffer>(),
    DELETED: new Map<StoredObject, Buffer>(),
  }
  readonly #batches = new Map<WatchItem, Batch>()

  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', stored: StoredObject, text: () => string): Buffer {
    const known = this.#events[type]
    let bytes = known.get(stored)
    if (!bytes) {
      makeRoom(known, MOST_EVENTS)
      known.set(stored, (bytes = Buffer.from(text())))
    }
    return bytes
  }

  /**
   * The events from `index` on that another watch has sent in one piece. Watches of the same selection are told of the
   * same items, each of all of them: between the same first and last there are the same others, if they are as many.
   */
  batch(waiting: readonly WatchItem[], index: number): Batch | undefined {
    const first = waiting[index]
    const known = first && this.#batches.get(first)
    return known && waiting[index + known.count - 1] === known.last ? known : undefined
  }

  keepBatch(first: WatchItem, batch: Batch): void {
    if (batch.bytes.length > LARGEST_BATCH) return
    makeRoom(this.#batches, MOST_BATCHES)
    this.#batches.delete(first)
    this.#batches.set(first, batch)
  }
}

function makeRoom(map: Map<unknown, unknown>, most: number): void {
  if (map.size < most) return
  const oldest = map.keys().next()
  if (!oldest.done) map.delete(oldest.value)
}

const forms = new Map<string, SharedBytes>()

/** One for each form that there is, of which there are a handful. */
export function sharedBytes(form: string): SharedBytes {
  let bytes = forms.get(form)
  if (!bytes) forms.set(form, (bytes = new SharedBytes()))
  return bytes
}
