import { describe, expect, test } from 'vitest'
import { loadConfig } from './load-config.ts'
import { MemoryFiles } from './testdata/memory-files.ts'

const kubeconfig = (server: string): string => `
current-context: c
clusters: [{ name: k, cluster: { server: "${server}" } }]
contexts: [{ name: c, context: { cluster: k } }]`

const account = '/var/run/secrets/kubernetes.io/serviceaccount'
const pod = { [`${account}/token`]: 't', [`${account}/ca.crt`]: 'x', [`${account}/namespace`]: 'operators\n' }
const podEnv = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
const home = { '/home/me/.kube/config': kubeconfig('https://home') }

function load(files: Readonly<Record<string, string>>, options: Parameters<typeof loadConfig>[0] = {}) {
  return loadConfig({ env: {}, home: '/home/me', files: new MemoryFiles(files), ...options })
}

describe('in a cluster', () => {
  test('the service account is used, and its files stay files', async () => {
    expect(await load({ ...pod, ...home }, { env: podEnv })).toEqual({
      server: 'https://10.0.0.1:443',
      tls: { ca: { file: `${account}/ca.crt` } },
      credential: { kind: 'token-file', path: `${account}/token` },
      namespace: 'operators',
      origin: "the pod's service account",
    })
  })

  test('an IPv6 host and a missing namespace file are accepted', async () => {
    const { [`${account}/namespace`]: _, ...files } = pod
    const config = await load(files, { env: { ...podEnv, KUBERNETES_SERVICE_HOST: 'fd00::1' } })
    expect(config).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'default' })
  })

  test('a named kubeconfig comes first unless inCluster is set', async () => {
    const files = { ...pod, ...home, '/k': kubeconfig('https://k') }
    expect((await load(files, { env: { ...podEnv, KUBECONFIG: '/k' } })).server).toBe('https://k')
    expect((await load(files, { env: podEnv, kubeconfigPath: '/k' })).server).toBe('https://k')
    expect((await load(files, { env: podEnv, inCluster: false })).server).toBe('https://home')
    expect((await load(files, { env: { ...podEnv, KUBECONFIG: '/k' }, inCluster: true })).server).toBe(
      'https://10.0.0.1:443',
    )
  })

  test('a missing pod environment or service account is an error', async () => {
    await expect(load(home, { inCluster: true })).rejects.toMatchObject({
      code: 'TENURE_KUBECONFIG_IN_CLUSTER',
      message: expect.stringMatching(/does not run in a Kubernetes pod.*give it a kubeconfig/),
    })
    await expect(load(home, { env: podEnv })).rejects.toMatchObject({
      code: 'TENURE_KUBECONFIG_IN_CLUSTER',
      message: expect.stringMatching(/automountServiceAccountToken/),
    })
  })
})

const options = (said: string[]) => ({
  localDirectory: '/work/.tenure',
  onLocal: (message: string) => void said.push(message),
})

describe('the kubeconfig of npm start', () => {
  const local = { '/work/.tenure/kubeconfig': kubeconfig('https://local') }
  const empty = { '/home/me/.kube/config': 'clusters: []' }

  test.each([
    ['there is none', {}],
    ['the one of the user is empty', { '/home/me/.kube/config': '' }],
    ['the one of the user names no cluster', empty],
  ])('it is used, and a message says so, if %s', async (_case, files) => {
    const said: string[] = []
    expect((await load({ ...local, ...files }, options(said))).server).toBe('https://local')
    expect(said).toEqual(['No kubeconfig is set: using /work/.tenure/kubeconfig, which npm start wrote.'])
  })

  test('a kubeconfig that is set, or that of the user, comes first', async () => {
    const said: string[] = []
    const files = { ...local, ...home, '/k': kubeconfig('https://k') }
    expect((await load(files, options(said))).server).toBe('https://home')
    expect((await load(files, { ...options(said), env: { KUBECONFIG: '/k' } })).server).toBe('https://k')
    const none = load({ ...local }, { ...options(said), env: { KUBECONFIG: '/none' } })
    await expect(none).rejects.toMatchObject({ code: 'TENURE_KUBECONFIG_NOT_FOUND' })
    await expect(load({ ...local }, { ...options(said), kubeconfigPath: '/none' })).rejects.toThrow('/none')
    await expect(load({ ...local, ...empty }, { ...options(said), context: 'other' })).rejects.toThrow('"other"')
    expect(said).toEqual([])
  })

  test('a damaged kubeconfig of the user is reported', async () => {
    const files = { ...local, '/home/me/.kube/config': 'clusters: [' }
    await expect(load(files, options([]))).rejects.toThrow('/home/me/.kube/config')
  })
})

describe('a proxy from the environment', () => {
  const cases: readonly (readonly [env: Record<string, string>, server: string, proxy: string | undefined])[] = [
    [{ HTTPS_PROXY: 'http://p:1' }, 'https://a.example', 'http://p:1'],
    [{ https_proxy: 'p:1' }, 'https://a.example', 'http://p:1'],
    [{ HTTP_PROXY: 'http://p:1' }, 'https://a.example', undefined],
    [{ HTTPS_PROXY: 'http://p:1' }, 'https://localhost:6443', undefined],
    [{ HTTPS_PROXY: 'http://p:1' }, 'https://127.0.0.2', undefined],
    [{ HTTPS_PROXY: 'http://p:1' }, 'https://[::1]:6443', undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'b, example' }, 'https://a.example', undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.example:8443' }, 'https://a.example', 'http://p:1'],
    [{ HTTPS_PROXY: 'http://p:1', no_proxy: 'a.example:443' }, 'https://a.example', undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '.a.example' }, 'https://a.example', 'http://p:1'],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8' }, 'https://10.9.8.7', undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8' }, 'https://11.9.8.7', 'http://p:1'],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'fd00::1' }, 'https://[fd00::1]', undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, 'https://a.example', undefined],
  ]
  test.each(cases)('%o gives the proxy for %s', async (env, server, proxy) => {
    const config = await load({ '/home/me/.kube/config': kubeconfig(server) }, { env })
    expect(config.proxyUrl?.reveal()).toBe(proxy)
  })
})
