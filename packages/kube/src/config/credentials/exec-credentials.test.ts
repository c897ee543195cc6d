import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { systemFiles } from '../files.ts'
import { runCommand } from './run-command.ts'
import { SecretValue } from '../secret-value.ts'
import type { ExecConfig } from '../connection-config.ts'
import type { CredentialSourceOptions } from './credential-source.ts'

const PLUGIN = fileURLToPath(new URL('../testdata/plugin.mjs', import.meta.url))

let directory: string
let clock: VirtualClock

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plugin-'))
  clock = new VirtualClock()
})

afterEach(async () => {
  if (clock.pending > 0) throw new Error('a timer was left behind')
  await rm(directory, { recursive: true })
})

function open(
  plugin: string,
  exec: Partial<ExecConfig> = {},
  options: Partial<CredentialSourceOptions> = {},
  env: Record<string, string> = {},
): ExecCredentials {
  const config: ExecConfig = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: [PLUGIN],
    env: new SecretValue({ COUNT: join(directory, 'count'), PLUGIN: plugin, ...env }),
    interactiveMode: 'Never',
    ...exec,
  }
  return new ExecCredentials(config, 'context "c" of /k', {
    clock,
    files: systemFiles,
    run: runCommand,
    isTerminal: () => false,
    ...options,
  })
}

async function runs(): Promise<number> {
  return (await readFile(join(directory, 'count'), 'utf8').catch(() => '')).length
}

test('concurrent callers share one run, and a token without expiry is cached', async () => {
  const source = open('token')
  const both = await Promise.all([source.get(), source.get(), source.get()])
  expect(both.map((credential) => credential.authorization)).toEqual(['Bearer run-1', 'Bearer run-1', 'Bearer run-1'])
  await clock.advance(86_400_000)
  expect(source.get()).toBe(both[0])
  expect(await runs()).toBe(1)
})

test('a token is cached until it expires by the wall clock', async () => {
  const source = open('expiring', {}, {}, { EXPIRES: new Date(clock.now() + 60_000).toISOString() })
  await source.get()
  await clock.advance(59_999)
  expect(source.get()).toEqual({ authorization: 'Bearer run-1', certificate: undefined })
  clock.jump(1)
  expect(await source.get()).toMatchObject({ authorization: 'Bearer run-2' })
})

test('a rejected token is renewed once, with one run for all rejected requests', async () => {
  const source = open('token')
  const first = await source.get()
  const [second, same] = await Promise.all([source.renew(first), source.renew(first)])
  expect(second.authorization).toBe('Bearer run-2')
  expect(same).toBe(second)
  // A late request with the old token gets the new one without a run.
  expect(await source.renew(first)).toBe(second)
  // The new token is rejected too: another run would not help, and would run for every request.
  expect(await source.renew(second)).toBe(second)
  expect(await runs()).toBe(2)
  await clock.advance(10_000)
  expect((await source.renew(second)).authorization).toBe('Bearer run-3')
})

test('KUBERNETES_EXEC_INFO contains the cluster if the plugin asks for it', async () => {
  const source = open('info', {
    args: [PLUGIN, '--for', 'me'],
    cluster: {
      server: 'https://a',
      tlsServerName: 'name',
      ca: { pem: new SecretValue('PEM') },
      insecure: false,
      config: { audience: 'x' },
    },
  })
  const { authorization = '' } = await source.get()
  expect(JSON.parse(Buffer.from(authorization.slice('Bearer '.length), 'base64url').toString())).toEqual({
    args: ['--for', 'me'],
    info: {
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: {
        interactive: false,
        cluster: {
          server: 'https://a',
          'tls-server-name': 'name',
          'certificate-authority-data': Buffer.from('PEM').toString('base64'),
          config: { audience: 'x' },
        },
      },
    },
  })
})

test.each([
  ['Never', true, false],
  ['IfAvailable', true, true],
  ['IfAvailable', false, false],
  ['Always', true, true],
] as const)(
  'interactiveMode %s with a terminal (%s) makes the plugin interactive: %s',
  async (interactiveMode, isTerminal, interactive) => {
    const seen: boolean[] = []
    const source = open(
      'token',
      { interactiveMode },
      {
        isTerminal: () => isTerminal,
        run(command) {
          seen.push(command.interactive)
          const { apiVersion, spec } = JSON.parse(command.env['KUBERNETES_EXEC_INFO'] ?? '')
          expect(spec).toEqual({ interactive })
          return Promise.resolve({
            exit: 0,
            stderr: '',
            stdout: JSON.stringify({ kind: 'ExecCredential', apiVersion, status: { token: 't' } }),
          })
        },
      },
    )
    expect(await source.get()).toMatchObject({ authorization: 'Bearer t' })
    expect(seen).toEqual([interactive])
  },
)

test.each([
  [
    'fails',
    'fail',
    {},
    /plugin ".*" of context "c" of \/k ended with 3, saying "the session has ended": run ".*" to see the problem/,
  ],
  ['prints something else', 'garbage', {}, /not an ExecCredential/],
  ['must ask but cannot', 'token', { interactiveMode: 'Always' }, /standard input is not a terminal/],
  [
    'is not installed',
    'token',
    { command: 'no-such-plugin', installHint: 'Install it\n  with brew.' },
    /"no-such-plugin" of .* is not installed: Install it with brew\.$/,
  ],
] as const)('a plugin that %s fails with a message that says what to do', async (_what, plugin, exec, sentence) => {
  const source = open(plugin, exec)
  await expect(source.get()).rejects.toMatchObject({
    code: 'TENURE_KUBECONFIG_EXEC',
    fate: 'retry',
    message: expect.stringMatching(sentence),
  })
  // A failure is not cached: the next caller runs the plugin again.
  const before = await runs()
  await expect(source.get()).rejects.toThrow(sentence)
  expect(await runs()).toBe(before * 2)
})

test('a plugin that hangs is killed after a minute, or when the transport closes', async () => {
  const slow = open('hang')
  const outcome = Promise.resolve(slow.get()).catch((error: unknown) => error)
  await vi.waitFor(async () => expect(await runs()).toBe(1))
  await clock.advance(60_000)
  expect(String(await outcome)).toMatch(/no result within 60 s/)
  const closing = open('hang')
  const closed = Promise.resolve(closing.get()).catch((error: unknown) => error)
  await vi.waitFor(async () => expect(await runs()).toBe(2))
  closing.close()
  expect(await closed).toMatchObject({ code: 'TENURE_TRANSPORT_CLOSED' })
})

test('the output of a plugin is validated and never quoted', async () => {
  const answers: readonly (readonly [status: object, phrase: RegExp])[] = [
    [{}, /neither a token nor a client certificate/],
    [{ clientCertificateData: 'hunter2' }, /certificate without its key/],
    [{ token: 'hunter2', expirationTimestamp: 'soon' }, /not a time/],
  ]
  for (const [status, phrase] of answers) {
    const stdout = JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status })
    const source = open('token', {}, { run: () => Promise.resolve({ exit: 0, stderr: '', stdout }) })
    const error: unknown = await Promise.resolve(source.get()).catch((thrown: unknown) => thrown)
    expect(String(error)).toMatch(phrase)
    expect(String(error)).not.toContain('hunter2')
  }
})
