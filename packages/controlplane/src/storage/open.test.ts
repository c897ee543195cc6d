import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import {
  CONFIG_MAPS,
  contents,
  line,
  open,
  put,
  rejection,
  remove,
  removeKey,
  temporaryDirectory,
  write,
} from './testing/storage.ts'
import { RevisionCompacted, type Storage } from './types.ts'

test('state, revision and history survive closing and opening again', async () => {
  const directory = path.join(await temporaryDirectory(), 'made/on/the/way')
  const first = await open({ directory })
  await write(first, 'default/a', 'one')
  await write(first, 'default/b', 'ünïcode 🎈 \ud800')
  await write(first, 'default/a', 'two')
  await removeKey(first, 'default/b')
  await first.close()

  const second = await open({ directory })
  expect([second.revision, contents(second)]).toEqual([5, ['default/a=two@4']])
  expect(contents(second, { at: 3 })).toEqual(['default/a=one@2', 'default/b=ünïcode 🎈 \ud800@3'])
  const lines: string[] = []
  second.watch(CONFIG_MAPS, 2, (change) => lines.push(line(change)))
  expect(await write(second, 'default/b', 'again')).toBe(6)
  expect(lines).toEqual([
    '3 default/b nothing → ünïcode 🎈 \ud800 @3',
    '4 default/a one → two @4',
    '5 default/b ünïcode 🎈 \ud800 → deleted @5',
    '6 default/b nothing → again @6',
  ])
})

test('compacted history stays compacted, and the revision continues even if no object is left', async () => {
  const directory = await temporaryDirectory()
  const first = await open({ directory })
  for (let number = 0; number < 5; number++) await write(first, 'default/a', String(number))
  await removeKey(first, 'default/a')
  first.compact(first.revision)
  await first.close()
  const second = await open({ directory })
  expect([second.revision, second.resources()]).toEqual([7, []])
  expect(() => second.range(CONFIG_MAPS, { at: 6 })).toThrow(new RevisionCompacted(7))
  expect(await write(second, 'default/a', 'again')).toBe(8)
})

test('the size of a file depends on its contents, not on the number of writes', async () => {
  const directory = await temporaryDirectory()
  const storage = await open({ directory, history: { changes: 100 }, maxBytes: 8_000_000 })
  const value = 'x'.repeat(4000)
  for (let round = 0; round < 60; round++) {
    await Promise.all(Array.from({ length: 100 }, (_, number) => write(storage, `default/${number}`, value + round)))
  }
  // 6,000 versions of 4 kB each are three times the limit.
  expect(storage.revision).toBe(6001)
  await storage.close()
  const again = await open({ directory })
  expect([again.revision, again.count(CONFIG_MAPS)]).toEqual([6001, 100])
})

test('history is limited by size, so that large objects that change often do not fill memory', async () => {
  const directory = await temporaryDirectory()
  const storage = await open({ directory, history: { size: 50_000 } })
  const value = 'x'.repeat(10_000)
  for (let round = 0; round < 20; round++) await write(storage, 'default/a', value)
  expect(() => storage.range(CONFIG_MAPS, { at: 16 })).toThrow(new RevisionCompacted(17))
  expect(Array.from(storage.range(CONFIG_MAPS, { at: 17 }), ({ revision }) => revision)).toEqual([17])
  for (let number = 0; number < 100; number++) await write(storage, `default/${number}`, value)
  // The current state does not count.
  expect(Array.from(storage.range(CONFIG_MAPS, { at: 17 }), ({ revision }) => revision)).toEqual([17])
  await storage.close()
  const again = await open({ directory })
  expect(() => again.range(CONFIG_MAPS, { at: 16 })).toThrow(new RevisionCompacted(17))
})

test('compacted versions are released from memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const storage = await open({ directory: await temporaryDirectory(), history: { changes: 2 } })
  // A watch reads both states of a change.
  storage.watch(CONFIG_MAPS, 1, (change) => void line(change))
  const versions: WeakRef<object>[] = []
  const writeOne = async (value: string): Promise<void> => {
    versions.push(new WeakRef((await storage.write(CONFIG_MAPS, 'default/a', put('default/a', value))).stored))
  }
  const removeOne = async (): Promise<void> => {
    versions.push(new WeakRef((await storage.write(CONFIG_MAPS, 'default/a', remove)).stored))
  }
  for (let round = 0; round < 10; round++) await writeOne(String(round))
  await removeOne()
  for (let round = 0; round < 10; round++) await writeOne(String(round))
  const held = (): number => versions.filter((version) => version.deref() !== undefined).length
  await vi.waitFor(() => {
    collect()
    expect(held()).toBeLessThanOrEqual(4)
  }, 10_000)
})

test('a full disk refuses writes, still serves reads, and accepts writes again when there is space', async () => {
  const directory = await temporaryDirectory()
  const storage = await open({ directory, maxBytes: 200_000 })
  const seen: number[] = []
  storage.watch(CONFIG_MAPS, 1, ({ revision }) => seen.push(revision))
  const value = 'x'.repeat(10_000)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 60 }, (_, number) => delay(number).then(() => write(storage, `default/${number}`, value))),
  )
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  expect(failures.length).toBeGreaterThan(0)
  expect(failures[0]).toMatchObject({
    code: 500,
    reason: 'InternalError',
    message: expect.stringMatching(/^The write was not stored: no space is left for .*state\.db/),
  })
  const stored = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  expect(stored.length).toBeGreaterThan(5)
  expect(seen).toEqual(stored)
  expect([storage.revision, storage.count(CONFIG_MAPS)]).toEqual([stored.at(-1), stored.length])

  await storage.close()
  const roomier = await open({ directory })
  expect([roomier.revision, roomier.count(CONFIG_MAPS)]).toEqual([stored.at(-1), stored.length])
  expect(await write(roomier, 'default/next', value)).toBe(roomier.revision)
})

test('a write that is too large for the disk does not block others', async () => {
  const storage = await open({ directory: await temporaryDirectory(), maxBytes: 200_000 })
  const error = await rejection(write(storage, 'default/huge', 'x'.repeat(500_000)))
  expect(error.message).toContain('no space is left')
  expect(await write(storage, 'default/small', 'x')).toBe(2)
  expect(contents(storage)).toEqual(['default/small=x@2'])
})

test('a disk that fails to write refuses writes and keeps the acknowledged ones', async () => {
  const directory = await temporaryDirectory()
  const program = fileURLToPath(new URL('./testing/io-error-child.ts', import.meta.url))
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    'ulimit -f 1000 && exec "$0" "$1" "$2"',
    process.execPath,
    program,
    directory,
  ])
  const { acknowledged, failures, visible } = JSON.parse(stdout) as Record<string, readonly unknown[]>
  expect(acknowledged?.length).toBeGreaterThan(5)
  expect(failures).toEqual([expect.stringMatching(/^The write was not stored: the disk of .*state\.db failed/)])
  expect(visible).toEqual([acknowledged?.at(-1), acknowledged?.length])
  const storage = await open({ directory })
  expect([storage.revision, storage.count(CONFIG_MAPS)]).toEqual(visible)
})

test('writes sent to the disk before a failure was known are lost with the failed one', async () => {
  const directory = await temporaryDirectory()
  const storage = await open({ directory, maxBytes: 200_000 })
  // More than one transaction holds, so that it is committed before the writes after it are read.
  const failing = Array.from({ length: 1000 }, (_, number) => rejection(write(storage, `default/${number}`, 'x')))
  failing.push(rejection(write(storage, 'default/huge', 'x'.repeat(500_000))))
  await Promise.resolve()
  failing.push(rejection(write(storage, 'default/after', 'x')))
  for (const error of await Promise.all(failing)) expect(error.message).toContain('no space is left')
  expect([storage.revision, contents(storage)]).toEqual([1, []])
  expect(await write(storage, 'default/next', 'x')).toBe(2)
  await storage.close()
  const again = await open({ directory })
  expect([again.revision, contents(again)]).toEqual([2, ['default/next=x@2']])
})

test('a second storage on the same directory is refused until the first is closed', async () => {
  const directory = await temporaryDirectory()
  const first = await open({ directory })
  await write(first, 'default/a', 'one')
  expect(await rejection(open({ directory }))).toMatchObject({ code: 'TENURE_STORAGE_IN_USE' })
  expect(await write(first, 'default/a', 'two')).toBe(3)
  await first.close()
  const second = await open({ directory })
  expect(contents(second)).toEqual(['default/a=two@3'])
})

test('the error names a directory that cannot be made or used', async () => {
  const directory = path.join(await temporaryDirectory(), 'x')
  const storage = await open({ directory })
  await storage.close()
  const error = await rejection(open({ directory: path.join(directory, 'state.db') }))
  expect(error).toMatchObject({
    code: 'TENURE_STORAGE_UNUSABLE',
    message: expect.stringContaining(path.join(directory, 'state.db')),
  })
})

test('a clean close leaves one file and its mark', async () => {
  const directory = await temporaryDirectory()
  const storage = await open({ directory })
  await write(storage, 'default/a', 'one')
  await storage.close()
  expect(await readdir(directory)).toEqual(['state.db', 'state.db-mark'])
})

test('in memory, each storage has its own revisions and nothing outlives it', async () => {
  const first = await open()
  await write(first, 'default/a', 'one')
  const second: Storage = await open()
  expect([first.revision, second.revision, contents(second)]).toEqual([2, 1, []])
})

test('only the owner can read the files, even in a directory that is open to all', async () => {
  const directory = await temporaryDirectory()
  const storage = await open({ directory })
  await write(storage, 'default/a', 'secret')
  const files = await readdir(directory)
  expect(files).toContain('state.db-wal')
  for (const file of files) expect((await stat(path.join(directory, file))).mode & 0o077).toBe(0)
  await storage.close()
})
