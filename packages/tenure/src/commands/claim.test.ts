import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ClaimsServer } from '@tenure/claims/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../../..')

let server: ClaimsServer
let directory: string

beforeEach(async () => {
  server = await ClaimsServer.start()
  directory = mkdtempSync(path.join(tmpdir(), 'tenure-claim-'))
})

afterEach(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

interface Running {
  readonly process: ChildProcess
  /** Resolves when the process has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
}

function tenure(...args: readonly string[]): Running {
  const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', 'claim', ...args]
  const child = spawn(process.execPath, command, { cwd: root, env: { ...process.env, CLAIMS_URL: server.url } })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => void (output.stdout += String(chunk)))
  child.stderr.on('data', (chunk) => void (output.stderr += String(chunk)))
  const ended = new Promise<Awaited<Running['ended']>>((resolve) => {
    child.once('close', (code) => resolve({ code, ...output }))
  })
  return { process: child, ended }
}

/** Starts a command that writes its process id and waits, and resolves when it runs. */
async function waitingCommand(...options: readonly string[]): Promise<Running & { readonly commandId: number }> {
  const file = path.join(directory, 'id')
  const running = tenure(
    ...options,
    '--',
    'sh',
    '-c',
    `echo $$ > ${file}.new && mv ${file}.new ${file} && exec sleep 60`,
  )
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 20_000 })
  return { ...running, commandId: Number(readFileSync(file, 'utf8')) }
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}

describe.skipIf(process.platform === 'win32')('the process of tenure claim', { timeout: 60_000 }, () => {
  test('options come before --, and all words after it are the command, also the name of a subcommand', async () => {
    const echo = tenure(
      '--pool',
      'chrome',
      '--set',
      'a=1',
      '--set',
      'b.c=x',
      '--',
      'echo',
      '-n',
      '--pool',
      'x',
      '--',
      'y',
    )
    expect(await echo.ended).toEqual({ code: 0, stdout: '--pool x -- y', stderr: '' })
    expect(server.requests[0]?.body).toEqual({ pool: 'chrome', values: { a: 1, b: { c: 'x' } } })
    expect(await tenure('--', 'list').ended).toEqual({ code: 127, stdout: '', stderr: 'There is no command "list".\n' })
    expect(server.claims.size).toBe(0)
  })

  test('an invalid command line is exit code 2, and nothing is taken', async () => {
    const lines = [['--frob'], ['chrome'], ['renew'], ['--output', 'xml'], ['list', 'more']]
    const results = await Promise.all(lines.map((line) => tenure(...line).ended))
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2])
    for (const { stderr } of results) expect(stderr).not.toBe('')
    expect(server.requests).toEqual([])
  })

  test('a claim is taken and released by its id, with the address before or after the subcommand', async () => {
    const { stdout, code } = await tenure('-o', 'json').ended
    expect(code).toBe(0)
    const { id } = JSON.parse(stdout) as { id: string }
    const elsewhere = await ClaimsServer.start()
    const [here, before, after] = await Promise.all([
      tenure('release', id).ended,
      tenure('--url', elsewhere.url, 'list').ended,
      tenure('show', id, '--url', elsewhere.url).ended,
    ])
    await elsewhere.close()
    expect(here).toEqual({ code: 0, stdout: `claim ${id} released\n`, stderr: '' })
    expect(before.stderr).toBe('No claims found.\n')
    expect(after.code).toBe(1)
    expect(server.claims.size).toBe(0)
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends the command, releases the claim, and gives %i', async (signal, code) => {
    const { process: child, ended, commandId } = await waitingCommand()
    expect(server.claims.size).toBe(1)
    child.kill(signal)
    expect(await ended).toEqual({ code, stdout: '', stderr: '' })
    expect(isAlive(commandId)).toBe(false)
    expect(server.claims.size).toBe(0)
  })

  test('after kill -9 nothing renews the claim, so that it expires', async () => {
    const { process: child, ended, commandId } = await waitingCommand('--ttl', '2s')
    try {
      child.kill('SIGKILL')
      await once(child, 'exit')
      const [claim] = server.claims.values()
      await vi.waitFor(() => expect(claim?.expiresAt).toBeLessThan(Date.now()), { timeout: 10_000 })
      expect(server.to('release')).toEqual([])
    } finally {
      process.kill(commandId, 'SIGKILL')
    }
    await ended
  })
})
