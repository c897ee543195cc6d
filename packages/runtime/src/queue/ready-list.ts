import type { Entry } from './entry.ts'

/** The ready keys of one namespace at one priority, first in first out, and its place in the rotation. */
interface Lane {
  readonly namespace: string
  head: Entry | undefined
  tail: Entry | undefined
  previous: Lane | undefined
  next: Lane | undefined
}

/** One priority: namespaces take turns, one key each, so that a busy namespace does not delay the others. */
interface Level {
  readonly priority: number
  readonly lanes: Map<string, Lane>
  /** The namespace that is next, and the one that is last. */
  head: Lane | undefined
  tail: Lane | undefined
}

/** Keys that may run now: highest priority first, round-robin over namespaces within it. Every operation is O(1). */
export class ReadyList {
  /** Highest priority first. There are few priorities; a level stays once it was used. */
  readonly #levels: Level[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  push(entry: Entry): void {
    const level = this.#level(entry.priority)
    let lane = level.lanes.get(entry.namespace)
    if (lane === undefined) {
      lane = { namespace: entry.namespace, head: undefined, tail: undefined, previous: undefined, next: undefined }
      level.lanes.set(entry.namespace, lane)
      pushLane(level, lane)
    }
    entry.previous = lane.tail
    entry.next = undefined
    if (lane.tail) lane.tail.next = entry
    else lane.head = entry
    lane.tail = entry
    this.#size++
  }

  shift(): Entry | undefined {
    for (const level of this.#levels) {
      const lane = level.head
      const entry = lane?.head
      if (lane === undefined || entry === undefined) continue
      unlink(lane, entry)
      if (lane.head === undefined) {
        dropLane(level, lane)
      } else if (lane !== level.tail) {
        unlinkLane(level, lane)
        pushLane(level, lane)
      }
      this.#size--
      return entry
    }
    return undefined
  }

  remove(entry: Entry): void {
    const level = this.#level(entry.priority)
    const lane = level.lanes.get(entry.namespace)
    if (lane === undefined) return
    unlink(lane, entry)
    if (lane.head === undefined) dropLane(level, lane)
    this.#size--
  }

  clear(): void {
    this.#levels.length = 0
    this.#size = 0
  }

  #level(priority: number): Level {
    let index = 0
    for (const level of this.#levels) {
      if (level.priority === priority) return level
      if (level.priority < priority) break
      index++
    }
    const level: Level = { priority, lanes: new Map(), head: undefined, tail: undefined }
    this.#levels.splice(index, 0, level)
    return level
  }
}

function unlink(lane: Lane, entry: Entry): void {
  if (entry.previous) entry.previous.next = entry.next
  else lane.head = entry.next
  if (entry.next) entry.next.previous = entry.previous
  else lane.tail = entry.previous
  entry.previous = undefined
  entry.next = undefined
}

function pushLane(level: Level, lane: Lane): void {
  lane.previous = level.tail
  lane.next = undefined
  if (level.tail) level.tail.next = lane
  else level.head = lane
  level.tail = lane
}

function unlinkLane(level: Level, lane: Lane): void {
  if (lane.previous) lane.previous.next = lane.next
  else level.head = lane.next
  if (lane.next) lane.next.previous = lane.previous
  else level.tail = lane.previous
}

/** Removes an empty lane: the map must not grow with every namespace that ever existed. */
function dropLane(level: Level, lane: Lane): void {
  unlinkLane(level, lane)
  level.lanes.delete(lane.namespace)
}
