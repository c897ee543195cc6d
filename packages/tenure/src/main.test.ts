import { execFile } from 'node:child_process'
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

test('--version after a command is the version of a kind', async () => {
  const { code, output } = await tenure('leases', '--group', 'apps', '--version', 'v1', '--kind', 'Deployment')
  expect(output).toMatch(/^There is no kubeconfig at \/there\/is\/none/)
  expect(code).toBe(1)
  expect(await tenure('leases', '--version', 'v1')).toEqual({ code: 1, output: expect.stringContaining('--kind') })
})

test.each(['start', 'controlplane', 'applications', 'leases', 'lease-controllers', 'lease'])(
  'tenure %s --help prints its usage',
  async (command) => {
    const { code, output } = await tenure(command, '--help')
    expect(output).toContain(`Usage: tenure ${command} [`)
    expect(code).toBe(0)
  },
)

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
