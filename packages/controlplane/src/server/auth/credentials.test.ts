import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemClock, systemRandom } from '@tenure/kube'
import { expect, onTestFinished, test } from 'vitest'
import { loadCredentials, type Credentials } from './credentials.ts'

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tenure-credentials-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const load = (directory: string): Credentials => loadCredentials(directory, ['127.0.0.1'], systemClock, systemRandom)

test('credentials are made once, in files that only the owner can read', async () => {
  const directory = path.join(await temporaryDirectory(), 'in', 'here')
  const first = load(directory)
  const second = load(directory)
  expect(second.token).toBe(first.token)
  expect(second.authority.certificate).toBe(first.authority.certificate)
  expect((await readdir(directory)).toSorted()).toEqual(['ca.json', 'token.json'])
  expect((await stat(path.join(directory, 'token.json'))).mode & 0o077).toBe(0)
})

test.each([
  ['token.json', ''],
  ['token.json', '{}'],
  ['token.json', '{"token":""}'],
  ['token.json', 'null'],
  ['ca.json', ''],
  ['ca.json', '{"certificate":"x","key":"y"}'],
  ['ca.json', '[]'],
])('a damaged %s (%s) is reported by name and not changed', async (name, text) => {
  const directory = await temporaryDirectory()
  load(directory)
  const file = path.join(directory, name)
  await writeFile(file, text)
  expect(() => load(directory)).toThrow(
    expect.objectContaining({ code: 'TENURE_CREDENTIALS_DAMAGED', message: expect.stringContaining(file) }),
  )
  expect(await readFile(file, 'utf8')).toBe(text)
})
