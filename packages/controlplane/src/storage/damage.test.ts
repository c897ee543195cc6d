import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { open, rejection, removeKey, temporaryDirectory, write } from './testing/storage.ts'

const VALUE = 'a value that is easy to find in a file'

/** A directory with a closed storage. */
async function filled(): Promise<{ readonly directory: string; readonly file: string }> {
  const directory = await temporaryDirectory()
  const storage = await open({ directory })
  for (let number = 0; number < 200; number++) void write(storage, `default/${number}`, `${VALUE} ${number}`)
  await removeKey(storage, 'default/7')
  await storage.close()
  return { directory, file: path.join(directory, 'state.db') }
}

/** Expects that opening reports the damage in one line that names the file, twice, and leaves the file unchanged. */
async function expectDamaged(directory: string, what: RegExp): Promise<void> {
  const file = path.join(directory, 'state.db')
  const before = await stat(file).catch(() => undefined)
  for (let time = 0; time < 2; time++) {
    const error = await rejection(open({ directory }))
    expect(error).toMatchObject({ code: 'TENURE_STORAGE_DAMAGED', message: expect.stringMatching(what) })
    expect(error.message).toMatch(/^The storage in [^\n]*state\.db is damaged: [^\n]*$/)
  }
  expect((await stat(file).catch(() => undefined))?.size).toBe(before?.size)
}

async function flip(file: string, at: (bytes: Buffer) => number): Promise<void> {
  const bytes = await readFile(file)
  const place = at(bytes)
  bytes[place] = (bytes[place] ?? 0) ^ 0x04
  await writeFile(file, bytes)
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

test('a flipped bit in a value is detected', async () => {
  const { directory, file } = await filled()
  await flip(file, (bytes) => bytes.indexOf(`${VALUE} 42`) + 5)
  await expectDamaged(directory, /revision 44 does not match its checksum/)
})

test('an overwritten page is detected', async () => {
  const { directory, file } = await filled()
  const bytes = await readFile(file)
  bytes.fill(0, 8192 * 4, 8192 * 5)
  await writeFile(file, bytes)
  await expectDamaged(directory, /./)
})

test('a truncated file is detected', async () => {
  const { directory, file } = await filled()
  await truncate(file, 8192 * 5)
  await expectDamaged(directory, /./)
})

test('an empty file is not treated as a new one', async () => {
  const { directory, file } = await filled()
  await truncate(file, 0)
  await expectDamaged(directory, /it is empty/)
})

test('a file of another program is refused', async () => {
  const { directory, file } = await filled()
  await writeFile(file, 'these are my notes, do not lose them\n'.repeat(100))
  await expectDamaged(directory, /file is not a database/)
  expect(await readFile(file, 'utf8')).toContain('my notes')
})

test('a database of another program is refused', async () => {
  const directory = await temporaryDirectory()
  change(path.join(directory, 'state.db'), 'CREATE TABLE notes (text)')
  await expectDamaged(directory, /it is not a file of Tenure/)
})

test('a missing revision in the history is detected', async () => {
  const { directory, file } = await filled()
  change(file, 'DELETE FROM log WHERE revision = 100')
  await expectDamaged(directory, /revisions are missing before 101/)
})

test('a changed start of the history is detected', async () => {
  const { directory, file } = await filled()
  change(file, 'UPDATE window SET oldest = 150')
  await expectDamaged(directory, /the start of its history is unreadable/)
})

test('a file of a newer version is not changed', async () => {
  const { directory, file } = await filled()
  change(file, 'PRAGMA user_version = 2')
  expect(await rejection(open({ directory }))).toMatchObject({ code: 'TENURE_STORAGE_NEWER' })
})

/**
 * A directory whose writer was killed: part of the state is only in the write-ahead log. All of it is acknowledged: the
 * end of the log must not be a transaction whose writer has no answer.
 */
async function killed(): Promise<{ readonly directory: string; readonly wal: string }> {
  const directory = await temporaryDirectory()
  const program = fileURLToPath(new URL('./testing/crash-child.ts', import.meta.url))
  const child = spawn(process.execPath, [program, directory, '1', '5'], { stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    if (chunk.includes('done')) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return { directory, wal: path.join(directory, 'state.db-wal') }
}

test('a flipped bit in the write-ahead log, which SQLite takes for its end, is detected', async () => {
  const { directory, wal } = await killed()
  const copy = await temporaryDirectory()
  for (const name of ['state.db', 'state.db-wal']) await copyFile(path.join(directory, name), path.join(copy, name))
  await flip(wal, (bytes) => bytes.indexOf('"value":"1.2"') + 10)
  await expectDamaged(directory, /its write-ahead log has a broken record among whole ones/)

  // A crash leaves a torn end; everything before it is complete.
  const { size } = await stat(path.join(copy, 'state.db-wal'))
  await truncate(path.join(copy, 'state.db-wal'), size - 3000)
  const storage = await open({ directory: copy })
  expect(storage.revision).toBeGreaterThan(16)
})

/** Expects, twice, that opening names the loss and what to do, and changes nothing. */
async function expectBehind(directory: string, state: RegExp): Promise<void> {
  const before = await filesIn(directory)
  for (let time = 0; time < 2; time++) {
    const error = await rejection(open({ directory }))
    expect(error).toMatchObject({ code: 'TENURE_STORAGE_BEHIND', message: expect.stringMatching(state) })
    expect(error.message).toMatch(/^Writes are lost: [^\n]* To accept the loss [^\n]*, remove [^\n]*state\.db-mark\.$/)
  }
  expect(await filesIn(directory)).toEqual(before)
}

/** The sizes of the files of the storage, by name. */
async function filesIn(directory: string): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {}
  for (const name of ['state.db', 'state.db-wal', 'state.db-mark']) {
    const file = await stat(path.join(directory, name)).catch(() => undefined)
    // An empty log is as good as none.
    if (file && file.size > 0) sizes[name] = file.size
  }
  return sizes
}

const LOSSES: readonly (readonly [string, (wal: string) => Promise<unknown>])[] = [
  ['deleted', (wal) => rm(wal)],
  ['emptied', (wal) => truncate(wal, 0)],
  ['cut to its header', (wal) => truncate(wal, 32)],
  ['cut in half', async (wal) => truncate(wal, Math.floor((await stat(wal)).size / 2))],
  ['cut by one byte', async (wal) => truncate(wal, (await stat(wal)).size - 1)],
]

test.each(LOSSES)('a write-ahead log that is %s after kill -9 is detected', async (_, lose) => {
  const { directory, wal } = await killed()
  await lose(wal)
  await expectBehind(directory, /ends at revision \d+, but revision \d+ was acknowledged/)
})

test('a file that is lost together with its write-ahead log is not treated as a new one', async () => {
  const { directory, wal } = await killed()
  for (const name of [wal, path.join(directory, 'state.db')]) await rm(name)
  await expectBehind(directory, /state\.db is missing, but revision \d+ was acknowledged/)
})

test('a user who removes the mark accepts the loss and continues with what is left', async () => {
  const { directory, wal } = await killed()
  await rm(wal)
  await rm(path.join(directory, 'state.db-mark'))
  const storage = await open({ directory })
  const revision = await write(storage, 'default/a', 'again')
  await storage.close()
  expect((await open({ directory })).revision).toBe(revision)
})

test('an unreadable mark is detected', async () => {
  const { directory } = await filled()
  await writeFile(path.join(directory, 'state.db-mark'), 'not a mark')
  await expectDamaged(directory, /its mark [^ ]*state\.db-mark is unreadable/)
})

test('a write-ahead log without its file is detected', async () => {
  const { directory } = await killed()
  await rename(path.join(directory, 'state.db'), path.join(directory, 'elsewhere.db'))
  await expectDamaged(directory, /the file is missing, but its write-ahead log exists/)
})
