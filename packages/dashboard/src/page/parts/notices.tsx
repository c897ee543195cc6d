import type { JSX } from 'preact'
import type { PageClock } from '../browser.ts'
import { useChanges } from './services.ts'

interface Notice {
  readonly id: number
  readonly level: 'done' | 'failed'
  readonly text: string
}

/** Milliseconds that a notice stays. */
const NOTICE_MS = { done: 5_000, failed: 12_000 }

/** More would cover what they are about. */
const MAX_NOTICES = 3

/** Results of actions, shown for a moment and read aloud. */
export class Notices {
  readonly #clock: PageClock
  readonly #listeners = new Set<() => void>()
  #notices: readonly Notice[] = []
  #count = 0

  constructor(clock: PageClock) {
    this.#clock = clock
  }

  get all(): readonly Notice[] {
    return this.#notices
  }

  show(level: 'done' | 'failed', text: string): void {
    const id = ++this.#count
    this.#set([...this.#notices, { id, level, text }].slice(-MAX_NOTICES))
    this.#clock.setTimer(NOTICE_MS[level], () => this.dismiss(id))
  }

  dismiss(id: number): void {
    this.#set(this.#notices.filter((notice) => notice.id !== id))
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #set(notices: readonly Notice[]): void {
    this.#notices = notices
    for (const listener of this.#listeners) listener()
  }
}

export function NoticeList({ notices }: { readonly notices: Notices }): JSX.Element {
  useChanges((listener) => notices.subscribe(listener))
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.all.map(({ id, level, text }) => (
        <div key={id} class={`notice ${level}`}>
          <span>{text}</span>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => notices.dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
