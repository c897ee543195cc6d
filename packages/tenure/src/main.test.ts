import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readBuildInfo } from './build-info.ts'
import { commandTable } from './command-table.ts'

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
  expect(await tenure('leases', '--version', 'v1')).toEqual({ code: 2, output: expect.stringContaining('--kind') })
})

test.each(commandTable.map(({ name }) => name))(
  'the help of tenure %s has the parts that all have, also with tenure help',
  async (command) => {
    const { code, output } = await tenure(command, '--help')
    expect(output).toMatch(new RegExp(`^Usage: tenure ${command} .*\\n\\n[A-Z].*[.:]`))
    expect(output).toMatch(/^Options:$[^]*^ {2}-h, --help +Print this help\.$/m)
    expect(output).toMatch(/^Examples:$/m)
    expect(output).toMatch(/^(?:Exit codes|Commands):$/m)
    // Colours are for terminals, and help has none.
    // oxlint-disable-next-line no-control-regex
    expect(output).not.toMatch(/\u001b/)
    expect(code).toBe(0)
    expect(await tenure('help', command)).toEqual({ code, output })
  },
)

test('the help of a subcommand is there in three ways', async () => {
  const help = await tenure('lease', 'set', '--help')
  expect(help.output).toContain('Usage: tenure lease set [options] <kind/name> <ttl>\n\nGive an object a lease')
  // An option of the group that may follow the subcommand.
  expect(help.output).toContain('--kubeconfig <path>')
  expect(await tenure('help', 'lease', 'set')).toEqual(help)
  expect(await tenure('lease', 'help', 'set')).toEqual(help)
})

test('as kubectl-tenure the command is called kubectl tenure', async () => {
  const command = ['packages/tenure/bin/kubectl-tenure.mjs', 'help', 'leases']
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, command, { cwd: root }, (_error, stdout) => resolve(stdout))
  })
  expect(output).toContain('Usage: kubectl tenure leases [options]')
  expect(output).toContain('  kubectl tenure leases --group apps')
})

test.each([
  [['lease-controller'], "Unknown command 'lease-controller'. Did you mean lease-controllers?"],
  [['help', 'clam'], "Unknown command 'clam'. Did you mean claim?"],
  [['lease', 'lst', '--help'], "Unknown command 'lst'. Did you mean list?"],
  [['lease', 'list', '--outptu', 'json'], "Unknown option '--outptu'. Did you mean --output?"],
  [['lease', 'set', 'pod/x'], "Missing required argument 'ttl'. See tenure lease set --help."],
  [
    ['db', 'list', 'more'],
    "Too many arguments for 'list'. Expected 0 arguments but got 1: more. See tenure db list --help.",
  ],
  [
    ['version', '-o', 'xml'],
    "Option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are text, json, yaml. See tenure version --help.",
  ],
  [['claims', '--default-tt=1m'], 'tenure claims cannot start: --default-tt is unknown; did you mean --default-ttl?'],
  [
    ['leases', 'more', '--version', 'v1', '--kind', 'Pod'],
    'tenure leases cannot start: more is not an option; see --help.',
  ],
  [['init', 'operator', 'No Name'], expect.stringContaining('No Name')],
] as const)('%j is a usage error: one line, and exit code 2', async (words, message) => {
  const { code, output } = await tenure(...words)
  expect(output.slice(0, -1)).toEqual(message)
  expect(output).toMatch(/^[^\n]+\n$/)
  expect(code).toBe(2)
})

test('without a command the help is an error', async () => {
  const help = await tenure('--help')
  expect(await tenure()).toEqual({ ...help, code: 2 })
})

test('tenure version prints what the build knows', async () => {
  expect((await tenure('version')).output).toMatch(/^Tenure \d+\.\d+\.\d+\nNode: \d+\.\S+\nPlatform: \S+\/\S+\n$/)
  const { output } = await tenure('version', '-o', 'json')
  expect(JSON.parse(output)).toEqual(readBuildInfo())
  expect((await tenure('version', '-o', 'yaml')).output).toMatch(/^node: /)
})

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
