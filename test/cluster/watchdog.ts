/**
 * Stops a cluster whose owner has died, however it died: a crash, a closed terminal, kill -9.
 *
 * The owner holds the other end of this program's standard input. The system closes it when the owner dies, and that
 * end of input is the signal. The watchdog runs in its own session, so that Ctrl-C in the owner's terminal does not
 * reach it. The alternatives do not work: none of the programs reads its standard input, and prctl(PR_SET_PDEATHSIG)
 * exists only on Linux and is not available in Node.
 *
 * Each line of input is one command in JSON, see `WatchdogCommand`.
 */
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'

import { type ProcessIdentity, signal } from './process-identity.ts'

export type WatchdogCommand =
  /** Stop this process when the owner dies. */
  | { readonly watch: ProcessIdentity }
  /** Also delete this folder then. */
  | { readonly remove: string }
  /** The owner is done: exit and leave everything as it is. */
  | { readonly release: true }

const watched: ProcessIdentity[] = []
const folders: string[] = []

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as WatchdogCommand
  if ('watch' in command) watched.push(command.watch)
  else if ('remove' in command) folders.push(command.remove)
  else process.exit(0)
}

// Killed without a clean shutdown, because their data is deleted anyway.
for (const identity of watched.toReversed()) signal(identity, 'SIGKILL')
for (const folder of folders) {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(() => {})
}
