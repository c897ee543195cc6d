import fc from 'fast-check'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'vitest'
import { command, StorageRun } from './testing/storage-run.ts'

const commands = fc.array(command, { maxLength: 40, size: 'max' })

test('a storage in memory behaves as the model', async () => {
  await fc.assert(
    fc.asyncProperty(commands, fc.constantFrom(5, 30, 1000), async (commands, historyLimit) => {
      const run = await StorageRun.start(undefined, historyLimit)
      for (const command of commands) await run.run(command)
      await run.end()
    }),
    { numRuns: 100 },
  )
})

test('a storage on disk behaves as the model, also after it is opened again', async () => {
  await fc.assert(
    fc.asyncProperty(commands, fc.constantFrom(5, 30, 1000), async (commands, historyLimit) => {
      const directory = await mkdtemp(path.join(tmpdir(), 'tenure-storage-'))
      try {
        const run = await StorageRun.start(directory, historyLimit)
        for (const command of commands) await run.run(command)
        await run.end()
      } finally {
        await rm(directory, { recursive: true, force: true })
      }
    }),
    { numRuns: 6 },
  )
}, 60_000)
