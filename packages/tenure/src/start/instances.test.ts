import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findInstance, publishInstance } from './instances.ts'

const instance = { pid: process.pid, http: 'http://127.0.0.1:3000', claims: 'http://127.0.0.1:8080' }
/** No process has the largest process id. */
const ENDED_PID = 2 ** 22 + 1
let data: string

beforeEach(() => {
  data = mkdtempSync(path.join(tmpdir(), 'tenure-instances-'))
})
afterEach(() => rmSync(data, { recursive: true }))

test('the addresses of a running process are found until it withdraws them', async () => {
  expect(await findInstance(data)).toBeUndefined()
  const withdraw = await publishInstance(data, instance)
  expect(await findInstance(data)).toEqual(instance)
  await withdraw()
  expect(await findInstance(data)).toBeUndefined()
})

test('the file of a process that has ended is ignored, and the next start removes it', async () => {
  await publishInstance(data, { ...instance, pid: ENDED_PID })
  expect(await findInstance(data)).toBeUndefined()
  await publishInstance(data, instance)
  expect(existsSync(path.join(data, 'instances', `${ENDED_PID}.json`))).toBe(false)
})

test('a damaged file is ignored', async () => {
  await publishInstance(data, instance)
  writeFileSync(path.join(data, 'instances', `${process.pid}.json`), '{')
  expect(await findInstance(data)).toBeUndefined()
})
