/**
 * Ends a cluster whose owner has died, however it died: a crash, a closed terminal, kill -9.
 *
 * The owner holds the other end of this program's standard input. The system closes it with the owner, which nothing
 * can prevent, and that end of input is the signal. It runs in a session of its own, so that Ctrl-C in the owner's
 * terminal does not reach it. Asking each program to watch its own input does not work (none of them reads it), and
 * prctl(PR_SET_PDEATHSIG) exists on Linux only and is out of Node's reach.
 *
 * Each line of input is one command in JSON, see `WatchdogCommand`.
 */
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'

import { type ProcessIdentity, signal } from './process-identity.ts'

export type WatchdogCommand =
  /** End this process when the owner dies. */
  | { readonly watch: ProcessIdentity }
  /** Delete this folder then, too. */
  | { readonly remove: string }
  /** The owner is done: end quietly, and leave everything as it is. */
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

// Killed rather than asked: nobody is left who could want what they would still write.
for (const identity of watched.toReversed()) signal(identity, 'SIGKILL')
for (const folder of folders) {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(() => {})
}
