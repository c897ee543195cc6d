// The clock, the network and the storage of the browser: the only file of the page that uses them directly.

/** A timer that can be cancelled. */
export interface PageTimer {
  cancel(): void
}

/** The time and the frames of the page. */
export interface PageClock {
  /** Milliseconds since 1970. */
  now(): number
  setTimer(delay: number, callback: () => void): PageTimer
  /** Calls back before the next frame is drawn. A hidden page draws none, so it waits a second instead. */
  nextFrame(callback: () => void): void
}

/** The network of the page. */
export type PageFetch = (path: string, init: RequestInit) => Promise<Response>

/** Milliseconds between updates of a hidden page. */
const HIDDEN_FRAME_MS = 1_000

export const browserClock: PageClock = {
  now: () => Date.now(),
  setTimer(delay, callback) {
    const handle = setTimeout(callback, delay)
    return { cancel: () => clearTimeout(handle) }
  },
  nextFrame(callback) {
    if (document.visibilityState === 'hidden') setTimeout(callback, HIDDEN_FRAME_MS)
    else requestAnimationFrame(callback)
  },
}

export const browserFetch: PageFetch = (path, init) => fetch(path, init)

const THEME_KEY = 'tenure-theme'

/** The theme that the user chose; undefined: that of the system. */
export function readTheme(): 'light' | 'dark' | undefined {
  try {
    const theme = localStorage.getItem(THEME_KEY)
    return theme === 'light' || theme === 'dark' ? theme : undefined
  } catch {
    // Storage may be switched off.
    return undefined
  }
}

export function writeTheme(theme: 'light' | 'dark' | undefined): void {
  if (theme) document.documentElement.dataset['theme'] = theme
  else delete document.documentElement.dataset['theme']
  try {
    if (theme) localStorage.setItem(THEME_KEY, theme)
    else localStorage.removeItem(THEME_KEY)
  } catch {
    // Storage may be switched off: the choice holds until the page is closed.
  }
}

/** Returns false if the browser refuses, as it does on pages without HTTPS. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'offscreen'
  // A modal dialog makes the rest of the page inert, so the text area has to be inside it.
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  return isCopied
}
