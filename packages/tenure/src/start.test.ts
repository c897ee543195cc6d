import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'
import { Application } from '@tenure/applications'
import { ClusterRoleBinding, Deployment, ServiceAccount } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')
const POLL_OPTIONS = { timeout: 60_000, interval: 50 }
const web = { namespace: 'default', name: 'web' }

let data: string
const running = new Set<Started>()

beforeEach(() => {
  data = mkdtempSync(path.join(tmpdir(), 'tenure-start-'))
})

afterEach(async () => {
  for (const each of running) await each.kill('SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

/** `npm start`, as the launcher runs it. */
class Started {
  readonly #child: ChildProcess
  readonly exited: Promise<number | null>
  output = ''

  constructor(...args: readonly string[]) {
    const command = [
      'scripts/launch.mjs',
      'packages/tenure/src/main.ts',
      'start',
      '--data',
      data,
      '--port',
      '0',
      ...args,
    ]
    this.#child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
    this.exited = new Promise((resolve) => this.#child.once('exit', resolve))
    running.add(this)
  }

  async kill(signal: NodeJS.Signals): Promise<number | null> {
    running.delete(this)
    this.#child.kill(signal)
    return this.exited
  }
}

async function withClient<R>(work: (client: Client) => Promise<R>): Promise<R> {
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: path.join(data, 'kubeconfig') }))
  try {
    return await work(new Client({ transport }))
  } finally {
    await transport.close()
  }
}

/** The process that hosts the data directory. */
const hostPid = (): number => (JSON.parse(readFileSync(path.join(data, 'host.json'), 'utf8')) as { pid: number }).pid

/** Undefined while the API server does not respond. */
const readyReplicas = (): Promise<number | undefined> =>
  withClient((client) => client.get(Deployment, web)).then(
    ({ status }) => status?.readyReplicas,
    () => undefined,
  )

const createWeb = (): Promise<unknown> =>
  withClient((client) =>
    client.create(Deployment, {
      metadata: web,
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } },
      },
    }),
  )

/** Runs `tenure` as a user does who has no kubeconfig, beside a running start. */
function tenure(
  args: readonly string[],
): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> {
  const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', ...args]
  const env = { ...process.env, KUBECONFIG: '', HOME: data, TENURE_DATA: data }
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: root, env }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    )
  })
}

test('the commands of the guide look at a running start without a kubeconfig', { timeout: 120_000 }, async () => {
  const started = new Started('--kubernetes-port', '0')
  await expect.poll(() => started.output, POLL_OPTIONS).toContain('Ctrl-C stops')
  const guide = readFileSync(path.join(root, 'docs/guides/production.md'), 'utf8')
  const commands = [...guide.matchAll(/^\$ tenure (.*)$/gm)].map(([, command = '']) => command)
  expect(commands).toEqual(['doctor', 'status', 'get claims -A', 'events -A --since 1h'])
  // Every LeaseController and the first claims of the pool get ready.
  await expect.poll(async () => (await tenure(['status'])).out, POLL_OPTIONS).toMatch(/^Claims +3 +3 +- /m)
  for (const command of commands) {
    const { code, err, out } = await tenure(command.split(' '))
    expect([command, code, err]).toEqual([command, 0, expect.stringContaining('which npm start wrote.')])
    expect(out).toMatch(
      { doctor: /Nothing is wrong\.$/m, status: /^Kubernetes v/ }[command] ?? /^(NAMESPACE|LAST SEEN) /,
    )
    expect(out).not.toContain('\u001B')
  }
  expect(await tenure(['get', 'claimz'])).toMatchObject({ code: 2, out: '' })
  expect(await tenure(['status', '--colour'])).toMatchObject({ code: 2, out: '' })
  expect(await started.kill('SIGTERM')).toBe(0)
})

test('a Deployment becomes ready and survives kill -9', { timeout: 120_000 }, async () => {
  const first = new Started('--kubernetes-port', '0')
  await expect.poll(() => first.output, POLL_OPTIONS).toContain('kubeconfig')
  await createWeb()
  await expect.poll(readyReplicas, POLL_OPTIONS).toBe(3)
  await first.kill('SIGKILL')

  const second = new Started()
  await expect.poll(() => second.output, POLL_OPTIONS).toContain('kubeconfig')
  await expect.poll(readyReplicas, POLL_OPTIONS).toBe(3)
  await expect.poll(() => second.output, POLL_OPTIONS).toMatch(/^Ready +in [\d.]+ s: this process leads applications/m)
  expect(await second.kill('SIGTERM')).toBe(0)
  expect(second.output).toContain('Stopped.')
  // Steps first, then the addresses, then the commands to try.
  expect(second.output).toMatch(
    /^Tenure .*\n(?: {2}✓ .* s\n)+\nDashboard [^]*^Ready .*\n\nTry next, in another terminal:\n(?: {2}\S.*\n){3}Ctrl-C stops everything.\nStopped.$/m,
  )
})

test('a second process joins and takes over at the same address', { timeout: 120_000 }, async () => {
  const first = new Started('--kubernetes-port', '0')
  await expect.poll(() => first.output, POLL_OPTIONS).toContain('kubeconfig')
  await createWeb()
  await expect.poll(readyReplicas, POLL_OPTIONS).toBe(3)
  const second = new Started()
  await expect.poll(() => second.output, POLL_OPTIONS).toContain('joined it')
  await expect.poll(() => second.output, POLL_OPTIONS).toContain('this one stands by')

  const { server } = await loadConfig({ kubeconfigPath: path.join(data, 'kubeconfig') })
  await first.kill('SIGKILL')
  await expect.poll(() => second.output, POLL_OPTIONS).toContain('taking over')
  await expect.poll(readyReplicas, POLL_OPTIONS).toBe(3)
  expect((await loadConfig({ kubeconfigPath: path.join(data, 'kubeconfig') })).server).toBe(server)
  await expect.poll(() => second.output, POLL_OPTIONS).toContain('applications: this process leads now')
  expect(second.output.split('\n').filter((line) => / WARN | ERROR |^ +at /.test(line)).length).toBeLessThanOrEqual(1)
  expect(await second.kill('SIGINT')).toBe(0)
})

/** The API server's verdict on an image that the policy forbids; a dry run stores nothing. */
const verdict = (): Promise<string> =>
  withClient((client) =>
    client.create(
      Application,
      { metadata: web, spec: { image: 'evil.example.com/nginx', replicas: 1 } },
      { dryRun: true },
    ),
  ).then(() => 'accepted', String)

test('the API server admits no request before the webhooks of a restarted host', { timeout: 120_000 }, async () => {
  const policy = ['--allowed-registries', 'docker.io']
  const first = new Started('--kubernetes-port', '0', ...policy)
  await expect.poll(() => first.output, POLL_OPTIONS).toContain('Ready')
  expect(await verdict()).toContain('must be from docker.io registries')
  await first.kill('SIGKILL')
  const second = new Started(...policy)
  const verdicts = new Set<string>()
  while (!second.output.includes('Ready')) verdicts.add(await verdict())
  expect(await verdict()).toContain('must be from docker.io registries')
  expect([...verdicts].filter((each) => each === 'accepted')).toEqual([])
})

test('an invalid port is reported in one line and creates no file', { timeout: 60_000 }, async () => {
  rmSync(data, { recursive: true })
  const started = new Started('--port', 'many')
  await expect.poll(() => started.output, POLL_OPTIONS).toContain('--port: "many" is not a whole number')
  expect(existsSync(data)).toBe(false)
})

test('a data directory, host or Kubernetes port that cannot be used is named before anything is started', async () => {
  const file = path.join(data, 'file')
  writeFileSync(file, '')
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  try {
    const wrong = new Started('--data', file, '--host', '192.0.2.1')
    expect(await wrong.exited).toBe(1)
    expect(wrong.output).toMatch(
      /^tenure start cannot start, 2 settings are wrong:\n {2}- 192\.0\.2\.1 for the HTTP API is not an address of this machine; set LISTEN_HOST to one that is\.\n {2}- The data directory .*file cannot be used: it is not a directory; choose another with TENURE_DATA\.$/m,
    )
    const started = new Started('--kubernetes-port', String(port))
    expect(await started.exited).toBe(1)
    expect(started.output).toMatch(/^Port \d+ for the Kubernetes API .* choose another with TENURE_KUBERNETES_PORT\.$/m)
    expect(started.output).not.toMatch(/http:|https:|PostgreSQL/)
  } finally {
    taken.close()
  }
})

test('a server that other machines reach says that callers need tokens, and such a token works', async () => {
  const started = new Started('--kubernetes-port', '0', '--host', '0.0.0.0')
  await expect.poll(() => started.output, POLL_OPTIONS).toContain('Ctrl-C stops')
  expect(started.output).toMatch(/^Callers need a token, because the HTTP API listens on 0\.0\.0\.0 \(LISTEN_HOST\)/m)
  const url = /^ {2}curl .* (http:\S+)$/m.exec(started.output)?.[1] ?? ''
  const account = { name: 'me', namespace: 'default' }
  // As the three commands do.
  const token = await withClient(async (client) => {
    await client.create(ServiceAccount, { metadata: account })
    await client.create(ClusterRoleBinding, {
      metadata: { name: 'me' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    })
    const path = '/api/v1/namespaces/default/serviceaccounts/me/token'
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })
    const headers = { 'content-type': 'application/json' }
    const request = { verb: 'create', method: 'POST', idempotent: false, path, body, headers } as const
    const { value } = await client.requester.json(request)
    return (value as { status: { token: string } }).status.token
  })
  expect((await fetch(url)).status).toBe(401)
  expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
})

/** Runs before the launcher, and lets it take the Node that runs it for an older one. */
const OLD_NODE = `data:text/javascript,${encodeURIComponent(
  `if (!process.env.TENURE_LAUNCHER_PIPE)
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })`,
)}`

test('kill -9 of a launcher on an older Node ends the process that it started', { timeout: 120_000 }, async () => {
  const program = ['packages/tenure/src/main.ts', 'start', '--data', data, '--port', '0', '--kubernetes-port', '0']
  const launcher = spawn(process.execPath, ['--import', OLD_NODE, 'scripts/launch.mjs', ...program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    // npm's own watch must not hide that of the launcher.
    env: { ...process.env, npm_lifecycle_event: '' },
  })
  let output = ''
  launcher.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  // The pipe closes when the last process that writes to it has ended.
  let isEnded = false
  launcher.stdout.once('close', () => (isEnded = true))
  let host = 0
  try {
    await expect.poll(() => output, POLL_OPTIONS).toContain('HTTP API')
    host = hostPid()
    expect(host).not.toBe(launcher.pid)
    launcher.kill('SIGKILL')
    await expect.poll(() => isEnded, POLL_OPTIONS).toBe(true)
    expect(output).toContain('Stopped.')
  } finally {
    if (!isEnded && host > 0) process.kill(host, 'SIGKILL')
  }
})

test('kill -9 of npm ends the process that its shell started', { timeout: 120_000 }, async () => {
  const start = '"$0" scripts/launch.mjs packages/tenure/src/main.ts start --data "$1" --port 0 --kubernetes-port 0'
  // The second command keeps the shell from replacing itself with the first.
  const shell = JSON.stringify(['-c', `${start}; true`, process.execPath, data])
  const npm = spawn(
    process.execPath,
    ['-e', `process.title = 'npm start'; require('child_process').spawn('sh', ${shell}, { stdio: 'inherit' })`],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, npm_lifecycle_event: 'start' } },
  )
  let output = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  try {
    await expect.poll(() => output, POLL_OPTIONS).toContain('HTTP API')
    npm.kill('SIGKILL')
    await expect.poll(() => output, POLL_OPTIONS).toContain('Stopped.')
  } finally {
    if (!output.includes('Stopped.')) process.kill(hostPid(), 'SIGKILL')
  }
})

test('a process under npm stops when npm ends its shell', { timeout: 120_000 }, async () => {
  const start = '"$0" scripts/launch.mjs packages/tenure/src/main.ts start --data "$1" --port 0 --kubernetes-port 0'
  const shell = spawn('sh', ['-c', `${start} & echo "pid $!"; wait`, process.execPath, data], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, npm_lifecycle_event: 'start' },
  })
  let output = ''
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  try {
    await expect.poll(() => output, POLL_OPTIONS).toContain('HTTP API')
    shell.kill('SIGTERM')
    await expect.poll(() => output, POLL_OPTIONS).toContain('Stopped.')
  } finally {
    const pid = Number(/^pid (\d+)$/m.exec(output)?.[1])
    // The process still runs only if the test failed.
    if (pid > 0 && !output.includes('Stopped.')) process.kill(pid, 'SIGKILL')
  }
})
