/**
 * Writes to a storage with several writers until it is killed, or a number of times each; then it prints `done` and
 * waits. Prints `<writer> <number> <revision>` for each acknowledged write.
 */
import { flushCompileCache } from 'node:module'
import { sleep, systemClock } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { openStorage } from '../open.ts'

const nothing = (): void => undefined
// Importing the runtime for its silent logger would double the start time.
const log: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => log }

const [directory = '', life = '', writes = 'Infinity'] = process.argv.slice(2)
/** Longer than any test. */
const WAIT_MS = 600_000
const storage = await openStorage({ directory, clock: systemClock, log, history: { changes: 300 } })
flushCompileCache()
process.stdout.write('open\n')

async function writer(name: string): Promise<void> {
  for (let number = 1; number <= Number(writes); number++) {
    const key = `default/${name}`
    const value = `${life}.${number}`
    // An occasional removal, so that a partial one would show.
    if (number % 7 === 0) await storage.write('configmaps', key, () => ({ remove: true }))
    const { stored } = await storage.write('configmaps', key, () => ({
      // Two copies that must agree, far enough apart to lie on different pages.
      put: { metadata: { name }, data: { value, filler: 'x'.repeat((number * 997) % 20_000), copy: value } } as object,
    }))
    process.stdout.write(`${name} ${value} ${stored.revision}\n`)
  }
}

await Promise.all(Array.from({ length: 16 }, (_, index) => writer(`w${index}`)))
process.stdout.write('done\n')
await sleep(systemClock, WAIT_MS)
