import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')

/** Runs `tenure` without a cluster and returns its output and exit code. */
function tenure(...args: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', ...args]
  const env = { ...process.env, KUBECONFIG: '/there/is/none' }
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
}

test('--version before a command prints the version of tenure', async () => {
  expect(await tenure('--version')).toEqual({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

test.skipIf(process.platform === 'win32').each(['tenure', 'kubectl-tenure'])(
  'after npm ci %s is a command that runs in any folder',
  async (name) => {
    const command = path.join(root, 'node_modules/.bin', name)
    const output = await new Promise((resolve) => {
      execFile(command, ['--version'], { cwd: tmpdir() }, (_error, stdout, stderr) => resolve(stdout + stderr))
    })
    expect(output).toMatch(/^\d+\.\d+\.\d+\n$/)
  },
)

test('--version after a command is the version of a kind', async () => {
  const { code, output } = await tenure('leases', '--group', 'apps', '--version', 'v1', '--kind', 'Deployment')
  expect(output).toMatch(/^There is no kubeconfig at \/there\/is\/none/)
  expect(code).toBe(1)
  expect(await tenure('leases', '--version', 'v1')).toEqual({ code: 1, output: expect.stringContaining('--kind') })
})

test.each(['start', 'controlplane', 'applications', 'claims', 'leases', 'lease-controllers', 'lease', 'claim'])(
  'tenure %s --help prints its usage',
  async (command) => {
    const { code, output } = await tenure(command, '--help')
    expect(output).toContain(`Usage: tenure ${command} [`)
    expect(code).toBe(0)
  },
)

test('the example operator that finds its port taken says so in one line', async () => {
  const taken = createServer().listen(8081)
  const kubeconfig = path.join(mkdtempSync(path.join(tmpdir(), 'tenure-example-')), 'kubeconfig')
  const cluster = { name: 'c', cluster: { server: 'http://127.0.0.1:1' } }
  const context = { name: 'x', context: { cluster: 'c', user: 'u' } }
  const users = [{ name: 'u', user: {} }]
  writeFileSync(kubeconfig, JSON.stringify({ 'current-context': 'x', clusters: [cluster], contexts: [context], users }))
  try {
    const command = ['docs/examples/websites.ts']
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    const stderr = await new Promise<string>((resolve) => {
      execFile(process.execPath, command, { cwd: root, env }, (_error, _stdout, text) => resolve(text))
    })
    expect(stderr.trimEnd().split('\n').at(-1)).toContain('8081')
    expect(stderr).not.toMatch(/^ +at /m)
  } finally {
    taken.close()
    rmSync(path.dirname(kubeconfig), { recursive: true })
  }
})

test('an unknown command is reported with the closest one', async () => {
  const { code, output } = await tenure('lease-controller')
  expect(output).toMatch(/unknown command 'lease-controller'[^]*lease-controllers/)
  expect(code).toBe(1)
})

test('an empty prefix in the environment counts as unset for controllers and for the lease command', async () => {
  process.env['LEASE_PREFIX'] = ''
  try {
    const keeping = await tenure('leases', '--version', 'v1', '--kind', 'Pod')
    const looking = await tenure('lease', 'list')
    for (const { output } of [keeping, looking]) expect(output).toMatch(/^There is no kubeconfig at/)
    expect((await tenure('lease', 'explain', '1h')).code).toBe(0)
  } finally {
    delete process.env['LEASE_PREFIX']
  }
})
