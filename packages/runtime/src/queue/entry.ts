/** State of a key. A key with recorded failures and no pending work is idle. */
export type EntryState = 'idle' | 'delayed' | 'ready' | 'running'

/**
 * The queue's record of one key. It is also the node of the lists and the heap it is in, so that a key moves between
 * them without a search and without garbage.
 */
export interface Entry {
  readonly key: string
  readonly namespace: string
  state: EntryState
  priority: number
  /** Monotonic time at which a delayed key becomes ready. */
  due: number
  /** Breaks ties between equal due times, first in first out. */
  order: number
  heapIndex: number
  previous: Entry | undefined
  next: Entry | undefined
  /** Monotonic time at which the key became ready or started running. */
  since: number
  failures: number
  /** Queued or running as a retry, apart from keys that did not fail. */
  isRetry: boolean
  /** Added while running: it runs again after `done`. */
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
    isRetry: false,
    again: false,
    againPriority: 0,
    againDue: 0,
  }
}
