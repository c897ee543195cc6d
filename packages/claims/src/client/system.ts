import type { ClientClock, ClientFetch, ClientRandom } from './options.ts'

// The clock, the network, the randomness and the environment of a browser or of Node: the only file that uses them.

/** setTimeout takes a 32-bit delay in milliseconds. A longer timer fires early; its callback looks at the clock. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1
const KEY_BYTES = 16

export const systemClientClock: ClientClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delay, callback, isBackground = false) {
    const handle = setTimeout(callback, Math.min(Math.max(Math.ceil(delay), 0), MAX_TIMEOUT_MS))
    // Browsers return a number; only Node keeps a process alive for a timer.
    if (isBackground && typeof handle === 'object') handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}

export const systemFetch: ClientFetch = (url, init) => fetch(url, init)

export const systemClientRandom: ClientRandom = {
  fraction: () => Math.random(),
  // randomUUID exists only on pages that were loaded over HTTPS or from localhost.
  key: () =>
    [...crypto.getRandomValues(new Uint8Array(KEY_BYTES))].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
}

/** A variable of the environment, undefined in a browser. An empty one counts as unset. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string>> } }
  return process?.env?.[name] || undefined
}
