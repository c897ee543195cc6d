/** The effect of a key. */
export type KeyAction =
  | { readonly type: 'go'; readonly view: string }
  | { readonly type: 'filter' }
  | { readonly type: 'help' }
  | { readonly type: 'move'; readonly by: number }
  | { readonly type: 'close' }
  | { readonly type: 'reload' }

/** The second key after `g`, and the first part of the path that it goes to. */
export const GO_KEYS: Readonly<Record<string, { readonly view: string; readonly title: string }>> = {
  o: { view: '', title: 'Overview' },
  a: { view: 'applications', title: 'Applications' },
  c: { view: 'claims', title: 'Claims and pools' },
  l: { view: 'leases', title: 'Leases' },
  d: { view: 'databases', title: 'Databases' },
  k: { view: 'controllers', title: 'Controllers' },
}

/** Milliseconds in which the second key must follow. */
const MAX_GAP_MS = 1_500

/** Tells what keys mean, some of which are sequences of two. */
export class KeySequence {
  #wentAt = -Infinity

  /** Returns undefined if the key means nothing. */
  press(key: string, now: number): KeyAction | undefined {
    const isSecond = now - this.#wentAt <= MAX_GAP_MS
    this.#wentAt = -Infinity
    if (isSecond) {
      const target = GO_KEYS[key]
      return target && { type: 'go', view: target.view }
    }
    switch (key) {
      case 'g':
        this.#wentAt = now
        return undefined
      case '/':
        return { type: 'filter' }
      case '?':
        return { type: 'help' }
      case 'j':
      case 'ArrowDown':
        return { type: 'move', by: 1 }
      case 'k':
      case 'ArrowUp':
        return { type: 'move', by: -1 }
      case 'r':
        return { type: 'reload' }
      case 'Escape':
        return { type: 'close' }
      default:
        return undefined
    }
  }
}
