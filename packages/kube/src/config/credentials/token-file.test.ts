import { expect, test } from 'vitest'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { credentialSource } from './credentials.ts'
import { connectTo } from '../connection-config.ts'
import { SecretValue } from '../secret-value.ts'
import { MemoryFiles } from '../testdata/memory-files.ts'
import type { CredentialSource } from './credential-source.ts'

const run = () => Promise.reject(new Error('no plugin here'))

function open(fallback?: string): { files: MemoryFiles; clock: VirtualClock; source: CredentialSource } {
  const clock = new VirtualClock()
  const files = new MemoryFiles({ '/token': 'one\n' })
  const credential = {
    kind: 'token-file',
    path: '/token',
    fallback: fallback === undefined ? undefined : new SecretValue(fallback),
  } as const
  const source = credentialSource(
    { ...connectTo({ server: 'https://a' }), credential },
    { clock, files, run, isTerminal: () => false },
  )
  return { files, clock, source }
}

test('the token file is read once a minute for all callers', async () => {
  const { files, clock, source } = open()
  const both = await Promise.all([source.get(), source.get()])
  expect(both).toEqual([{ authorization: 'Bearer one' }, { authorization: 'Bearer one' }])
  expect(files.reads.get('/token')).toBe(1)
  files.write('/token', 'two')
  await clock.advance(59_999)
  expect(source.get()).toEqual({ authorization: 'Bearer one' })
  await clock.advance(1)
  expect(await source.get()).toEqual({ authorization: 'Bearer two' })
  // A wall clock that jumps back must not make the token live longer.
  files.write('/token', 'three')
  clock.jump(-3_600_000)
  await clock.advance(60_000)
  expect(await source.get()).toEqual({ authorization: 'Bearer three' })
})

test('after a 401 the file is read at once, and an unchanged token is the same credential', async () => {
  const { files, source } = open()
  const first = await source.get()
  expect(await source.renew(first)).toBe(first)
  files.write('/token', 'two')
  const second = await source.renew(first)
  expect(second).toEqual({ authorization: 'Bearer two' })
  // Another request was rejected with the old token: the file is not read again.
  const reads = files.reads.get('/token')
  expect(await source.renew(first)).toBe(second)
  expect(files.reads.get('/token')).toBe(reads)
})

test('the last token is kept while the file is missing; without one the error says what to do', async () => {
  const { files, clock, source } = open()
  const first = await source.get()
  files.remove('/token')
  await clock.advance(120_000)
  expect(await source.get()).toBe(first)
  const empty = open()
  empty.files.write('/token', ' \n')
  await expect(empty.source.get()).rejects.toMatchObject({
    code: 'TENURE_KUBECONFIG_TOKEN_FILE',
    fate: 'retry',
    message: expect.stringMatching(/\/token .*The file is empty.*log in again/),
  })
})

test('the fallback token is used until the file can be read', async () => {
  const { files, clock, source } = open('spare')
  files.remove('/token')
  expect(await source.get()).toEqual({ authorization: 'Bearer spare' })
  files.write('/token', 'real')
  await clock.advance(60_000)
  expect(await source.get()).toEqual({ authorization: 'Bearer real' })
})
