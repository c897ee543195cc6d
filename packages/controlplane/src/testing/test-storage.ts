import type { Clock } from '@tenure/kube'
import type { ChangeLog, ChangeLogListener } from '../storage/change-log.ts'
import { LoggedStorage } from '../storage/logged-storage.ts'
import { MemoryView } from '../storage/memory/memory-view.ts'
import type { Change, Storage } from '../storage/types.ts'

export interface TestStorage {
  readonly storage: Storage
  /** Makes every write that is decided visible at once; otherwise that takes a microtask. */
  flush(): void
}

/** A storage in memory whose writes a test can make visible synchronously. */
export function testStorage(clock: Clock): TestStorage {
  const log = new FlushedLog()
  const view = new MemoryView(reportUncaught)
  return {
    storage: new LoggedStorage({ view, log: (listener) => log.attach(listener), clock, history: {} }),
    flush: () => log.flush(),
  }
}

class FlushedLog implements ChangeLog {
  #listener: ChangeLogListener | undefined
  #newest = 0
  #acknowledged = 0
  #isFlushing = false

  attach(listener: ChangeLogListener): this {
    this.#listener = listener
    return this
  }

  append({ revision }: Change): void {
    this.#newest = revision
    queueMicrotask(() => this.flush())
  }

  /** A change that a watch listener writes follows after the change it was told of has reached all listeners. */
  flush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    try {
      while (this.#acknowledged < this.#newest) {
        this.#acknowledged = this.#newest
        this.#listener?.durable(this.#newest)
      }
    } finally {
      this.#isFlushing = false
    }
  }

  forget(): void {
    // Nothing is on disk.
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

function reportUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
