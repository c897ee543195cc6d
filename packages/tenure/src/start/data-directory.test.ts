import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkDataDirectory, createDataDirectory } from './data-directory.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tenure-data-'))
})
afterEach(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true })
})

test('a directory is created with its parents, and a check creates nothing', async () => {
  const wanted = path.join(folder, 'a', 'b')
  await checkDataDirectory(wanted)
  expect(existsSync(wanted)).toBe(false)
  expect(await createDataDirectory(wanted)).toBe(wanted)
  expect(await createDataDirectory(wanted)).toBe(wanted)
  expect(existsSync(wanted)).toBe(true)
})

test('a file in the place of the directory or of a parent is named, with the setting', async () => {
  const file = path.join(folder, 'file')
  writeFileSync(file, '')
  await expect(checkDataDirectory(file)).rejects.toMatchObject({
    code: 'TENURE_DATA_DIRECTORY',
    message: `The data directory ${file} cannot be used: it is not a directory; choose another with TENURE_DATA.`,
  })
  await expect(checkDataDirectory(path.join(file, 'data'))).rejects.toThrow(`${file} is not a directory`)
})

const isRoot = process.getuid?.() === 0
test.skipIf(isRoot)('a directory that this user may not write to is named (skipped for root)', async () => {
  chmodSync(folder, 0o500)
  await expect(checkDataDirectory(folder)).rejects.toThrow(`this user may not write to ${folder} (permission denied)`)
})

test.runIf(process.platform === 'linux')('a file system that refuses directories is reported', async () => {
  await expect(createDataDirectory('/proc/tenure/data')).rejects.toMatchObject({ code: 'TENURE_DATA_DIRECTORY' })
})
