import type { WatchItem } from '../../registry/request.ts'
import type { StoredObject } from '../../storage/types.ts'

/**
 * Cached events. A few are enough, because all watches send an event at about the same time. The caches are plain Maps that
 * drop their oldest entry: an LRU would reorder on each of the reads that a watch fan-out makes.
 */
const MAX_CACHED_EVENTS = 64
const MAX_CACHED_BATCHES = 8
/** Bytes of a cached batch. Larger ones are initial states, which watches do not share. */
const MAX_BATCH_BYTES = 64 * 1024

interface Batch {
  readonly last: WatchItem
  readonly count: number
  readonly bytes: Buffer
}

/** The bytes of the last events in one representation, encoded once for all watches. */
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
      evictOldest(known, MAX_CACHED_EVENTS)
      known.set(stored, (bytes = Buffer.from(text())))
    }
    return bytes
  }

  /**
   * The events from `index` on, if another watch has sent them in one piece. Watches of the same selection receive the same
   * items in order: batches with the same first and last item and the same length are equal.
   */
  batch(waiting: readonly WatchItem[], index: number): Batch | undefined {
    const first = waiting[index]
    const known = first && this.#batches.get(first)
    return known && waiting[index + known.count - 1] === known.last ? known : undefined
  }

  keepBatch(first: WatchItem, batch: Batch): void {
    if (batch.bytes.length > MAX_BATCH_BYTES) return
    evictOldest(this.#batches, MAX_CACHED_BATCHES)
    this.#batches.delete(first)
    this.#batches.set(first, batch)
  }
}

function evictOldest(map: Map<unknown, unknown>, most: number): void {
  if (map.size < most) return
  const oldest = map.keys().next()
  if (!oldest.done) map.delete(oldest.value)
}

const forms = new Map<string, SharedBytes>()

/** One cache for each representation, of which there are few. */
export function sharedBytes(content: string): SharedBytes {
  let bytes = forms.get(content)
  if (!bytes) forms.set(content, (bytes = new SharedBytes()))
  return bytes
}
