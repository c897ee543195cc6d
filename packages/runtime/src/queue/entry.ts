/** Where a key stands. A key with recorded failures and nothing to do is idle. */
export type EntryState = 'idle' | 'delayed' | 'ready' | 'running'

/**
 * All there is to know about one key. It is itself the node of the lists and the heap it stands in, so that a key
 * moves between them without a search and without garbage.
 */
export interface Entry {
  readonly key: string
  readonly namespace: string
  state: EntryState
  priority: number
  /** When a delayed key becomes ready, on the monotonic clock. */
  due: number
  /** Breaks ties between equal due times: first come, first served. */
  order: number
  heapIndex: number
  previous: Entry | undefined
  next: Entry | undefined
  /** Since when it is ready, or running. */
  since: number
  failures: number
  /** Added again while running: runs once more after `done`. */
  again: boolean
  againPriority: number
  againDue: number
}

export function newEntry(key: string): Entry {
  const slash = key.indexOf('/')
  return {
    key,
    namespace: slash < 0 ? '' : key.slice(0, slash),
    state: 'idle',
    priority: 0,
    due: 0,
    order: 0,
    heapIndex: -1,
    previous: undefined,
    next: undefined,
    since: 0,
    failures: 0,
    again: false,
    againPriority: 0,
    againDue: 0,
  }
}
