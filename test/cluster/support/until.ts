import { setTimeout as pause } from 'node:timers/promises'

// Long, because a loaded machine must not fail a test.
const DEADLINE_MS = 90_000
const INTERVAL_MS = 20

/** Waits until `isTrue` or throws with `what`. Unlike `expect.poll` it also works in hooks. */
export async function until(
  what: string | (() => string),
  isTrue: () => boolean | Promise<boolean>,
  deadline = DEADLINE_MS,
): Promise<void> {
  const end = performance.now() + deadline
  while (!(await isTrue())) {
    if (performance.now() > end) {
      throw new Error(`Not reached within ${deadline / 1000} s: ${typeof what === 'string' ? what : what()}`)
    }
    await pause(INTERVAL_MS)
  }
}
