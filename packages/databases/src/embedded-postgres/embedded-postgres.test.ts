import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@tenure/kube'
import { silentLogger } from '@tenure/runtime'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../testing/postgres.ts'
import { installedBinaries, prepareBinaries } from './binaries.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './index.ts'
import { readPostmaster } from './postmaster.ts'
import { PostgresServer } from './server.ts'
import { canReach, unprivilegedUser } from './unprivileged-user.ts'

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tenure-embedded-'))
  chmodSync(directory, 0o755)
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function start(directory: string, port = 0): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ directory, log: silentLogger, ...(port > 0 && { port }) })
  onTestFinished(() => server.stop())
  return server
}

async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** All command lines and environments of this machine that this user may read; empty where there is no /proc. */
async function processTexts(): Promise<string> {
  if (!existsSync('/proc')) return ''
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const files = ids.flatMap((id) => [`/proc/${id}/cmdline`, `/proc/${id}/environ`])
  return (await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')))).join('\n')
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

describe.skipIf(installedBinaries() === undefined)('the embedded PostgreSQL', () => {
  test('data, password and port survive a restart, and the connection string is private', async () => {
    const directory = await temporaryDirectory()
    const first = await start(directory)
    const url = (await readFile(first.urlFile, 'utf8')).trim()
    expect(url).toBe(first.url.reveal())
    expect((await stat(first.urlFile)).mode & 0o777).toBe(0o600)
    await query(url, 'CREATE TABLE t AS SELECT 42 AS answer')
    expect(await processTexts()).not.toContain(first.password.reveal())
    await first.stop()
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
    const second = await start(directory)
    expect(second.url.reveal()).toBe(url)
    expect(await query(url, 'SELECT answer FROM t')).toEqual([{ answer: 42 }])
  }, 60_000)

  test('only the password opens it, and only on loopback', async () => {
    const server = await start(await temporaryDirectory())
    const url = server.url.reveal()
    await expect(query(url.replace(server.password.reveal(), 'wrong'), 'SELECT 1')).rejects.toThrow('password')
    expect(await query(url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }])
    expect(await query(url, 'SHOW fsync')).toEqual([{ fsync: 'on' }])
  }, 60_000)

  test('a taken port is replaced by a free one', async () => {
    const directory = await temporaryDirectory()
    const first = await start(directory)
    await first.stop()
    const blocker = createServer().listen(first.port, '127.0.0.1')
    await once(blocker, 'listening')
    onTestFinished(() => void blocker.close())
    const second = await start(directory)
    expect(second.port).not.toBe(first.port)
    expect(await readFile(second.urlFile, 'utf8')).toContain(`:${second.port}/`)
  }, 60_000)

  test('a lost connection string gets a new password', async () => {
    const directory = await temporaryDirectory()
    const first = await start(directory)
    await first.stop()
    await rm(first.urlFile)
    const second = await start(directory)
    expect(second.password.reveal()).not.toBe(first.password.reveal())
    expect(await query(second.url.reveal(), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  }, 60_000)

  test.runIf(process.platform === 'linux')(
    'the server ends with a process that is killed, and recovers',
    async () => {
      const directory = await temporaryDirectory()
      const program = fileURLToPath(new URL('../testing/embedded-child.ts', import.meta.url))
      const child = spawn(process.execPath, [program, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      const url = (await readFile(path.join(directory, 'postgres-url'), 'utf8')).trim()
      await query(url, 'CREATE TABLE t AS SELECT 42 AS answer')
      const pid = (await readPostmaster(path.join(directory, 'postgres/data')))?.pid ?? 0
      expect(isAlive(pid)).toBe(true)
      child.kill('SIGKILL')
      await until(() => !isAlive(pid))
      const server = await start(directory)
      expect(await query(server.url.reveal(), 'SELECT answer FROM t')).toEqual([{ answer: 42 }])
    },
    60_000,
  )

  test.runIf(process.platform === 'linux')(
    'a server that was left running is stopped',
    async () => {
      const directory = await temporaryDirectory()
      const first = await start(directory)
      await first.stop()
      const user = await unprivilegedUser()
      const data = path.join(directory, 'postgres/data')
      const binaries = await prepareBinaries(path.join(directory, 'postgres'), user)
      const orphan = await PostgresServer.start({ binaries, data, user, clock: systemClock, port: first.port })
      const pid = (await readPostmaster(data))?.pid ?? 0
      const second = await start(directory)
      expect(isAlive(pid)).toBe(false)
      expect(orphan.isRunning).toBe(false)
      // Clients of the first go on with the same address.
      expect(second.port).toBe(first.port)
      expect(await query(second.url.reveal(), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    },
    60_000,
  )

  test.runIf(process.platform === 'linux')(
    'a killed server and a pid file of another process do not stop the start',
    async () => {
      const directory = await temporaryDirectory()
      const data = path.join(directory, 'postgres/data')
      const first = await start(directory)
      const pid = (await readPostmaster(data))?.pid ?? 0
      process.kill(pid, 'SIGKILL')
      await until(() => !isAlive(pid))
      const second = await start(directory)
      const lines = (await readFile(path.join(data, 'postmaster.pid'), 'utf8')).split('\n')
      await second.stop()
      // After a restart of the machine the id belongs to another program: this one.
      await writeFile(path.join(data, 'postmaster.pid'), [process.pid, ...lines.slice(1)].join('\n'))
      const third = await start(directory)
      expect(await query(third.url.reveal(), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
      await first.stop()
    },
    60_000,
  )
})

test('a folder below one that is closed cannot be reached by another user', async () => {
  const directory = await temporaryDirectory()
  const user = { name: 'other', uid: 12_345, gid: 12_345 }
  expect(await canReach(directory, user)).toBe(true)
  chmodSync(directory, 0o700)
  expect(await canReach(directory, user)).toBe(false)
  expect(await canReach(directory, undefined)).toBe(true)
})
