import { execFile } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../../..')

/** Runs `tenure db` with nothing at the address of its database. */
function db(...args: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', 'db', ...args]
  const env = { ...process.env, DATABASE_URL: 'postgres://nest:hunter2@127.0.0.1:1/nest' }
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
}

test('tenure db --help lists its commands', async () => {
  const { code, output } = await db('--help')
  expect(code).toBe(0)
  for (const name of ['create', 'list', 'show', 'scale', 'set', 'pause', 'resume', 'delete'])
    expect(output).toMatch(new RegExp(`^  ${name} `, 'm'))
})

test('the options reach the command, and its exit code is that of the process', async () => {
  const down = await db('create', 'orders', '--type', 'redis', '--set', 'a=1', '--set', 'b=2', '--version', '7')
  expect(down).toMatchObject({ code: 1, output: expect.stringContaining('The address comes from DATABASE_URL.') })
  expect(down.output).not.toContain('hunter2')
  expect(await db('list', '--database-url', 'x')).toMatchObject({
    code: 2,
    output: expect.stringContaining('--database-url is not a URL'),
  })
})

test('an invalid command line ends with 2', async () => {
  expect(await db('set', 'orders')).toMatchObject({ code: 2, output: expect.stringContaining('Missing required') })
  expect(await db('create', 'orders', '--colour', 'red')).toMatchObject({ code: 2 })
})
