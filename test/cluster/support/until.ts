import { setTimeout as pause } from 'node:timers/promises'

// Long, because a loaded machine is no failure; what comes at once is not waited for.
const DEADLINE_MS = 90_000
const INTERVAL_MS = 20

/** Waits until `isTrue`, or throws what it waited for in vain. Unlike `expect.poll` it works in hooks too. */
export async function until(
  what: string | (() => string),
  isTrue: () => boolean | Promise<boolean>,
  deadline = DEADLINE_MS,
): Promise<void> {
  const end = performance.now() + deadline
  while (!(await isTrue())) {
    if (performance.now() > end) {
      throw new Error(`not within ${deadline / 1000} s: ${typeof what === 'string' ? what : what()}`)
    }
    await pause(INTERVAL_MS)
  }
}
