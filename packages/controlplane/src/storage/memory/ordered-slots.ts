import type { Tombstone, Version } from './version.ts'

/** A key and its newest visible state. */
export interface Slot {
  readonly key: string
  newest: Version | Tombstone
}

/** Slots per chunk. Splitting a full chunk moves half of it: small enough to be cheap, large enough for few chunks. */
const MAX_CHUNK_SLOTS = 512

/**
 * Slots in key order, in two levels of sorted arrays: an insertion moves at most one chunk, and iterating is as fast as
 * over an array.
 */
export class OrderedSlots {
  readonly #chunks: Slot[][] = []
  /** Counts insertions and removals, so that a paused iteration notices that its position has moved. */
  #changes = 0

  add(slot: Slot): void {
    this.#changes++
    // A key between two chunks goes to the end of the first.
    const index = Math.max(this.#chunkAfter(slot.key) - 1, 0)
    const chunk = this.#chunks[index]
    if (!chunk) {
      this.#chunks.push([slot])
      return
    }
    const last = chunk.at(-1)
    if (last && last.key < slot.key) chunk.push(slot)
    else chunk.splice(firstNotBefore(chunk, slot.key), 0, slot)
    if (chunk.length > MAX_CHUNK_SLOTS) this.#chunks.splice(index + 1, 0, chunk.splice(splitAt(chunk, slot)))
  }

  remove(key: string): void {
    const index = this.#chunkAfter(key) - 1
    const chunk = this.#chunks[index]
    if (!chunk) return
    const place = firstNotBefore(chunk, key)
    if (chunk[place]?.key !== key) return
    this.#changes++
    chunk.splice(place, 1)
    if (chunk.length === 0) this.#chunks.splice(index, 1)
  }

  /** Slots from `start` on, in order. Slots may be added and removed while the iteration is paused. */
  *from(start: string): Generator<Slot, void, undefined> {
    let changes = this.#changes
    let index = Math.max(this.#chunkAfter(start) - 1, 0)
    let place = firstNotBefore(this.#chunks[index] ?? [], start)
    for (;;) {
      const chunk = this.#chunks[index]
      if (!chunk) return
      const slot = chunk[place]
      if (!slot) {
        index++
        place = 0
        continue
      }
      yield slot
      if (changes === this.#changes) {
        place++
        continue
      }
      changes = this.#changes
      index = Math.max(this.#chunkAfter(slot.key) - 1, 0)
      const moved = this.#chunks[index] ?? []
      place = firstNotBefore(moved, slot.key)
      if (moved[place]?.key === slot.key) place++
    }
  }

  /** The first chunk that begins after `key`. */
  #chunkAfter(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const first = this.#chunks[middle]?.[0]
      if (first && first.key <= key) low = middle + 1
      else high = middle
    }
    return low
  }
}

function firstNotBefore(chunk: readonly Slot[], key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const slot = chunk[middle]
    if (slot && slot.key < key) low = middle + 1
    else high = middle
  }
  return low
}

// Keys inserted in order leave full chunks behind, not half-empty ones.
function splitAt(chunk: readonly Slot[], added: Slot): number {
  return chunk.at(-1) === added ? chunk.length - 1 : chunk.length >>> 1
}
