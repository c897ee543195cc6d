import { connectTo, HttpTransport, type LoadConfigOptions } from '@tenure/kube'
import { expect, test, vi } from 'vitest'
import { silentLogger } from '../log/logger.ts'
import { findServer, reportUnreachable } from './connection.ts'

const kubeconfig = `
current-context: c
clusters: [{ name: k, cluster: { server: "https://kubeconfig" } }]
contexts: [{ name: c, context: { cluster: k } }]`
const account = { '/account/token': 't', '/account/ca.crt': 'x' }
const podEnv = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }

async function find(inCluster: boolean | undefined, env: LoadConfigOptions['env'], files: Record<string, string>) {
  const info = vi.fn()
  const read = (path: string) => {
    const text = files[path]
    return text === undefined ? Promise.reject(new Error(`no ${path}`)) : Promise.resolve(text)
  }
  const { server } = await findServer(
    inCluster,
    { ...silentLogger, info },
    {
      env: { KUBECONFIG: '/kubeconfig', ...env },
      serviceAccountDirectory: '/account',
      files: { read, stamp: read },
    },
  )
  return { server, messages: info.mock.calls.map(([message]) => message as string) }
}

const files = { '/kubeconfig': kubeconfig, ...account }
const MESSAGE = 'no service account found, using the kubeconfig'

test('inCluster true is the service account, also if a kubeconfig is named', async () => {
  expect(await find(true, podEnv, files)).toEqual({ server: 'https://10.0.0.1:443', messages: [] })
})

test('inCluster true without a service account is the kubeconfig, and the log says so', async () => {
  expect(await find(true, {}, files)).toEqual({ server: 'https://kubeconfig', messages: [MESSAGE] })
  expect(await find(true, podEnv, { '/kubeconfig': kubeconfig })).toEqual({
    server: 'https://kubeconfig',
    messages: [MESSAGE],
  })
})

test('inCluster false is the kubeconfig, also in a pod', async () => {
  expect(await find(false, podEnv, files)).toEqual({ server: 'https://kubeconfig', messages: [] })
})

test('without inCluster a named kubeconfig comes first', async () => {
  expect(await find(undefined, podEnv, files)).toEqual({ server: 'https://kubeconfig', messages: [] })
  expect((await find(undefined, { ...podEnv, KUBECONFIG: '' }, files)).server).toBe('https://10.0.0.1:443')
})

test('an API server at which nothing listens is named at once, with its kubeconfig', async () => {
  const config = { ...connectTo({ server: 'http://127.0.0.1:1' }), origin: 'context "c"' }
  const transport = new HttpTransport(config)
  const error = vi.fn()
  const { signal } = new AbortController()
  try {
    await reportUnreachable(transport, config, { log: { ...silentLogger, error }, signal })
    expect(error.mock.calls).toEqual([
      [
        'API server is not usable yet, trying again',
        {
          reason: expect.stringContaining(
            `Nothing listens at the API server's address http://127.0.0.1:1 (context "c")`,
          ),
        },
      ],
    ])
  } finally {
    await transport.close()
  }
})
