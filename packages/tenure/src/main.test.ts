import { execFile } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')

/** What `tenure` says and how it ends, where there is no cluster. */
function tenure(...args: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', ...args]
  const env = { ...process.env, KUBECONFIG: '/there/is/none' }
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
}

test('its own version is what is asked for before a command', async () => {
  expect(await tenure('--version')).toEqual({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

test('the version of a kind is what is said after one', async () => {
  const { code, output } = await tenure('leases', '--group', 'apps', '--version', 'v1', '--kind', 'Deployment')
  expect(output).toMatch(/^There is no kubeconfig at \/there\/is\/none/)
  expect(code).toBe(1)
  expect(await tenure('leases', '--version', 'v1')).toEqual({ code: 1, output: expect.stringContaining('--kind') })
})

test.each(['start', 'controlplane', 'applications', 'leases', 'lease-controllers', 'lease'])(
  '%s says how it is used',
  async (command) => {
    const { code, output } = await tenure(command, '--help')
    expect(output).toContain(`Usage: tenure ${command} [`)
    expect(code).toBe(0)
  },
)

test('a command that is not there is told, with one that is', async () => {
  const { code, output } = await tenure('lease-controller')
  expect(output).toMatch(/unknown command 'lease-controller'[^]*lease-controllers/)
  expect(code).toBe(1)
})

test('a prefix that is empty in the environment is none, for who keeps leases and who looks at them', async () => {
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
