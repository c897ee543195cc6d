/**
 * Writes to a storage under a file size limit, and prints the acknowledged writes and why the others failed. Without
 * the signal handler, reaching the limit would end the process; with it, writing fails.
 */
import { systemClock, type KubeObject } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { openStorage } from '../open.ts'

process.on('SIGXFSZ', () => undefined)
const nothing = (): void => undefined
const log: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => log }
const [directory = ''] = process.argv.slice(2)
const storage = await openStorage({ directory, clock: systemClock, log })
const object = { data: { value: 'x'.repeat(20_000) } } as KubeObject
const acknowledged: number[] = []
const failures = new Set<string>()
for (let number = 0; number < 100; number++) {
  try {
    const { stored } = await storage.write('configmaps', `default/${number}`, () => ({ put: object }))
    acknowledged.push(stored.revision)
  } catch (error) {
    failures.add((error as Error).message)
  }
}
process.stdout.write(
  JSON.stringify({ acknowledged, failures: [...failures], visible: [storage.revision, storage.count('configmaps')] }),
)
await storage.close()
