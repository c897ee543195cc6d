import { delimiter } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { TenureError } from '../../errors/errors.ts'
import { loadConfig } from '../load-config.ts'
import { MemoryFiles } from '../testdata/memory-files.ts'
import type { LoadConfigOptions } from '../load-config.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

const DEV = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: dev
  cluster: { server: https://dev.example:6443/, certificate-authority: pki/ca.crt, tls-server-name: kubernetes }
users:
- name: me
  user: { client-certificate: pki/me.crt, client-key: ../me.key }
contexts:
- name: dev
  context: { cluster: dev, user: me, namespace: team-a }
`
const DEV_FILES = {
  '/home/me/.kube/config': DEV,
  '/home/me/.kube/pki/ca.crt': PEM,
  '/home/me/.kube/pki/me.crt': PEM,
  '/home/me/me.key': PEM,
}

/** A kubeconfig with one cluster and the given user. */
const withUser = (user: string, cluster = 'server: https://a'): string => `
current-context: c
clusters: [{ name: k, cluster: { ${cluster} } }]
users: [{ name: u, user: { ${user} } }]
contexts: [{ name: c, context: { cluster: k, user: u } }]
`

function load(files: Readonly<Record<string, string>>, options: LoadConfigOptions = {}) {
  return loadConfig({ env: {}, home: '/home/me', files: new MemoryFiles(files), ...options })
}

async function problem(loading: Promise<unknown>): Promise<{ code: string; message: string; fate: string }> {
  const error: unknown = await loading.then(
    () => new Error('it loaded'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof TenureError)) throw error
  return { code: error.code, message: error.message, fate: error.fate }
}

test('~/.kube/config is read with paths relative to it', async () => {
  expect(await load(DEV_FILES)).toEqual({
    server: 'https://dev.example:6443',
    tls: {
      ca: { file: '/home/me/.kube/pki/ca.crt' },
      certificate: { cert: { file: '/home/me/.kube/pki/me.crt' }, key: { file: '/home/me/me.key' } },
      serverName: 'kubernetes',
      insecure: false,
    },
    credential: { kind: 'none' },
    impersonate: undefined,
    proxyUrl: undefined,
    namespace: 'team-a',
    origin: 'context "dev" of /home/me/.kube/config',
    context: 'dev',
  })
})

describe('KUBECONFIG as a list', () => {
  const first = `
users: [{ name: u, user: { token: first } }]
contexts: [{ name: shared, context: { cluster: k, user: u } }]`
  const second = `
current-context: shared
clusters: [{ name: k, cluster: { server: https://k, certificate-authority: ca.crt } }]
users: [{ name: u, user: { token: second, as: somebody } }]
contexts: [{ name: shared, context: { cluster: none, user: none } }, { name: other, context: { cluster: k, user: u, namespace: o } }]`
  const third = `{ "current-context": "other", "clusters": [{ "name": "k", "cluster": { "server": "https://third" } }] }`
  const files = { '/a/one': first, '/b/two': second, '/c/three': third, '/b/ca.crt': PEM }
  const env = { KUBECONFIG: ['', '/a/one', '/missing', '/b/two', '/c/three', '/a/one'].join(delimiter) }

  test.each([
    [
      'JSON',
      '{"current-context":"c","clusters":[{"name":"k","cluster":{"server":"https://a"}}],"contexts":[{"name":"c","context":{"cluster":"k"}}]}',
    ],
    [
      'YAML that begins like JSON',
      '{current-context: c, clusters: [{name: k, cluster: {server: "https://a"}}], contexts: [{name: c, context: {cluster: k}}]}',
    ],
  ])('the list is read from %s', async (_what, text) => {
    expect((await load({ '/home/me/.kube/config': text })).server).toBe('https://a')
  })

  test('the first file with an entry or a current-context wins', async () => {
    const config = await load(files, { env })
    expect(config.server).toBe('https://k')
    expect(config.context).toBe('shared')
    expect(config.credential.kind === 'token' && config.credential.token.reveal()).toBe('first')
    expect(config.impersonate).toBeUndefined()
    expect(config.tls.ca).toEqual({ file: '/b/ca.crt' })
  })

  test('the caller can choose a context', async () => {
    expect((await load(files, { env, context: 'other' })).namespace).toBe('o')
  })

  test('a requested file is the only one that is read', async () => {
    expect((await load({ ...files, ...DEV_FILES }, { env, kubeconfigPath: '/home/me/.kube/config' })).context).toBe(
      'dev',
    )
  })
})

describe('credentials', () => {
  test('inline certificates win over files', async () => {
    const config = await load({
      '/home/me/.kube/config': withUser(
        `client-certificate: /nowhere, client-certificate-data: ${base64(PEM)}, client-key-data: ${base64(PEM)}`,
        `server: "https://[::1]:6443", certificate-authority-data: ${base64(PEM)}`,
      ),
    })
    const { ca, certificate } = config.tls
    expect(ca && 'pem' in ca && ca.pem.reveal()).toBe(PEM)
    expect(certificate && 'pem' in certificate.cert && certificate.cert.pem.reveal()).toBe(PEM)
    expect(config.server).toBe('https://[::1]:6443')
  })

  test('token files with a fallback, basic authentication and impersonation are read', async () => {
    const both = await load({ '/home/me/.kube/config': withUser('token: t, tokenFile: tok') })
    expect(both.credential).toMatchObject({ kind: 'token-file', path: '/home/me/.kube/tok' })
    const basic = await load({
      '/home/me/.kube/config': withUser(
        'username: "n", password: p, as: x, as-uid: "7", as-groups: [g, h], as-user-extra: { k: [v] }',
      ),
    })
    expect(basic.credential).toMatchObject({ kind: 'basic', username: 'n' })
    expect(basic.impersonate).toEqual({ user: 'x', uid: '7', groups: ['g', 'h'], extra: { k: ['v'] } })
  })

  test('an exec plugin is relative to the kubeconfig and overrides the inherited environment', async () => {
    const config = await load(
      {
        '/home/me/.kube/config': withUser(
          'exec: { apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, args: [a], env: [{ name: A, value: own }], provideClusterInfo: true }',
          'server: https://a, proxy-url: "http://u:p@proxy:3128", extensions: [{ name: client.authentication.k8s.io/exec, extension: { audience: x } }]',
        ),
      },
      { env: { A: 'inherited', B: 'b' } },
    )
    if (config.credential.kind !== 'exec') throw new Error('not exec')
    const { exec } = config.credential
    expect(exec).toMatchObject({ command: '/home/me/.kube/bin/login', args: ['a'], interactiveMode: 'IfAvailable' })
    expect(exec.env.reveal()).toEqual({ A: 'own', B: 'b' })
    expect(exec.cluster).toMatchObject({ server: 'https://a', config: { audience: 'x' } })
    expect(config.proxyUrl?.reveal()).toBe('http://u:p@proxy:3128')
  })

  test('a printed configuration shows no secrets', async () => {
    const config = await load(
      {
        '/home/me/.kube/config': withUser(
          'username: "n", password: hunter2',
          'server: https://a, proxy-url: "http://u:hunter2@p"',
        ),
      },
      { env: { SOME: 'hunter2' } },
    )
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config) + String(config.proxyUrl)).not.toContain('hunter2')
  })
})

describe('an invalid kubeconfig', () => {
  const at = '/home/me/.kube/config'
  const cases: readonly (readonly [what: string, text: string, code: string, sentence: RegExp])[] = [
    [
      'bad YAML',
      'users: [',
      'YAML',
      /^The kubeconfig \/home\/me\/\.kube\/config is not valid YAML \(.+ at line \d+\): correct it/,
    ],
    ['not a mapping', '- a', 'INVALID', /the file must be a mapping/],
    ['another kind', 'kind: Pod', 'INVALID', /is a Pod, not a kubeconfig/],
    ['an empty file', '# nothing\n', 'CONTEXT', /^No context is chosen in .*there is none yet/],
    ['no current-context', 'contexts: [{ name: a }, { name: b }]', 'CONTEXT', /use-context.*there is a, b/],
    [
      'an unknown context',
      'current-context: x\ncontexts: [{ name: a }]',
      'CONTEXT',
      /The context "x" is not in .*there is a/,
    ],
    [
      'a missing cluster',
      'current-context: a\ncontexts: [{ name: a, context: { cluster: gone } }]',
      'CLUSTER',
      /the cluster "gone", which is not in/,
    ],
    [
      'a missing user',
      'current-context: a\nclusters: [{ name: k, cluster: { server: https://a } }]\ncontexts: [{ name: a, context: { cluster: k, user: gone } }]',
      'USER',
      /the user "gone", which is not in/,
    ],
    ['no server', withUser('token: t', ''), 'INVALID', /cluster "k" has no server/],
    ['a bad server', withUser('token: t', 'server: "ftp://x"'), 'INVALID', /not an http or https address/],
    [
      'a bad proxy',
      withUser('token: t', 'server: https://a, proxy-url: "ftp://x"'),
      'INVALID',
      /proxy-url must begin with/,
    ],
    [
      'a number for a token',
      withUser('token: 123'),
      'INVALID',
      /users\[0\]\.user\.token must be text: put it in quotes/,
    ],
    ['two of a name', 'users: [{ name: u }, { name: u }]', 'INVALID', /two users named "u"/],
    [
      'data that is not PEM',
      withUser('client-certificate-data: aGVsbG8='),
      'INVALID',
      /client-certificate-data must be PEM in base64/,
    ],
    [
      'a certificate without its key',
      withUser(`client-certificate-data: ${base64(PEM)}`),
      'INVALID',
      /certificate but no key/,
    ],
    [
      'a missing file',
      withUser('client-certificate: gone.crt, client-key: gone.key'),
      'FILE',
      /The client certificate file \/home\/me\/\.kube\/gone\.crt of context "c" .*restore the file/,
    ],
    [
      'insecure with an authority',
      withUser(
        'token: t',
        `server: https://a, insecure-skip-tls-verify: true, certificate-authority-data: ${base64(PEM)}`,
      ),
      'INVALID',
      /remove one/,
    ],
    ['token and password', withUser('token: t, username: u, password: p'), 'INVALID', /both a token and a password/],
    ['groups without a user', withUser('token: t, as-groups: [g]'), 'INVALID', /without "as"/],
    [
      'a legacy auth-provider',
      withUser('auth-provider: { name: gcp }'),
      'AUTH_PROVIDER',
      /auth-provider "gcp".*exec plugin/,
    ],
    [
      'an old plugin API',
      withUser('exec: { apiVersion: client.authentication.k8s.io/v1alpha1, command: x }'),
      'INVALID',
      /must support client\.authentication\.k8s\.io\/v1 or v1beta1/,
    ],
    [
      'v1 without interactiveMode',
      withUser('exec: { apiVersion: client.authentication.k8s.io/v1, command: x }'),
      'INVALID',
      /exec\.interactiveMode is missing/,
    ],
    [
      'an unknown interactiveMode',
      withUser('exec: { apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Often }'),
      'INVALID',
      /Never, IfAvailable or Always/,
    ],
  ]
  test.each(cases)('%s is reported with its place', async (_what, text, code, sentence) => {
    const found = await problem(load({ [at]: text }))
    expect(found).toMatchObject({ code: `TENURE_KUBECONFIG_${code}`, fate: 'terminal' })
    expect(found.message).toMatch(sentence)
    expect(found.message).toContain(at)
    expect(found.message).not.toContain('\n')
  })

  test('a broken plugin of another user is ignored', async () => {
    const text = withUser('token: t').replace('users: [', 'users: [{ name: other, user: { exec: { command: x } } }, ')
    expect((await load({ [at]: text })).credential.kind).toBe('token')
  })

  test('the error for invalid YAML does not quote the file, which may contain a token', async () => {
    const error: unknown = await load({ [at]: 'users:\n- token: hunter2\n bad' }).catch((thrown: unknown) => thrown)
    expect(inspect(error)).not.toContain('hunter2')
    expect(error).toMatchObject({ code: 'TENURE_KUBECONFIG_YAML' })
  })

  test('a missing kubeconfig is an error that names the path', async () => {
    expect(await problem(load({}))).toMatchObject({
      code: 'TENURE_KUBECONFIG_NOT_FOUND',
      message: 'There is no kubeconfig at /home/me/.kube/config: create one, or point KUBECONFIG at it.',
    })
    expect(await problem(load(DEV_FILES, { kubeconfigPath: '/x' }))).toMatchObject({
      code: 'TENURE_KUBECONFIG_NOT_FOUND',
    })
    expect((await problem(load(DEV_FILES, { env: { KUBECONFIG: `/x${delimiter}/y` } }))).message).toContain('/x or /y')
  })

  test('an unreadable kubeconfig is an error', async () => {
    const files = new MemoryFiles(DEV_FILES)
    files.read = () => Promise.reject(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }))
    expect(await problem(load({}, { files }))).toMatchObject({ code: 'TENURE_KUBECONFIG_UNREADABLE' })
  })
})
