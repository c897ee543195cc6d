import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { withLock } from './lock.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tenure-lock-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('the lock admits one holder at a time, and each waiter eventually', async () => {
  const file = path.join(folder, 'turns.lock')
  let inside = 0
  let most = 0
  let waits = 0
  const othersWait = Promise.withResolvers<void>()
  const visit = (): Promise<void> =>
    withLock(
      file,
      () => {
        waits += 1
        if (waits === 2) othersWait.resolve()
      },
      async () => {
        inside += 1
        most = Math.max(most, inside)
        await othersWait.promise
        inside -= 1
      },
    )
  await Promise.all([visit(), visit(), visit()])
  expect(most).toBe(1)
  expect(waits).toBe(2)
})

test('a failure of the work releases the lock', async () => {
  const file = path.join(folder, 'failure.lock')
  const failing = withLock(
    file,
    () => {},
    () => Promise.reject(new Error('Work failed')),
  )
  await expect(failing).rejects.toThrow('Work failed')
  expect(
    await withLock(
      file,
      () => {},
      () => Promise.resolve('free'),
    ),
  ).toBe('free')
})

test('the death of a holder releases the lock', async () => {
  const file = path.join(folder, 'killed.lock')
  const program = `
    import { withLock } from ${JSON.stringify(path.join(import.meta.dirname, 'lock.ts'))}
    await withLock(${JSON.stringify(file)}, () => {}, () => {
      console.log('mine')
      return new Promise(() => process.stdin.resume()) // Holds the lock until it or this test is killed.
    })`
  const holder = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  const waited = Promise.withResolvers<void>()
  const next = withLock(file, waited.resolve, () => Promise.resolve('freed'))
  await waited.promise
  holder.kill('SIGKILL')
  expect(await next).toBe('freed')
})
