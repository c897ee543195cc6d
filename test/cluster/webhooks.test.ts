import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'

import type { Kind, KubeObject } from '@tenure/kube'
import { Client, defineKind, HttpTransport, isApiError, jsonPatch, loadConfig } from '@tenure/kube'
import { allow, changed, deny, mutating, validating, Webhooks } from '@tenure/runtime/webhooks'
import { SharedInformers } from '@tenure/runtime'
import { splitBundle } from '@tenure/runtime/certificates'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type ClusterAccess, openCluster } from './access.ts'

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}
interface Configuration extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig: { readonly caBundle?: string } }[]
}

const ConfigMap = defineKind<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap' })
const configuration = (kind: string): Kind<Configuration> =>
  defineKind<Configuration>({ apiVersion: 'admissionregistration.k8s.io/v1', kind, namespaced: false })
const Validating = configuration('ValidatingWebhookConfiguration')
const Mutating = configuration('MutatingWebhookConfiguration')

const NAMESPACE = 'webhooks-test'
const NAME = 'webhooks-test'
const OPERATOR = 'webhooks-operator'
const POLL_OPTIONS = { timeout: 90_000, interval: 50 }
const PROPAGATION = 2000

const about = {
  kind: ConfigMap,
  operations: ['CREATE', 'UPDATE'],
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
  objectSelector: { matchLabels: { checked: 'yes' } },
  timeoutSeconds: 5,
} as const

const declared = [
  validating({
    ...about,
    name: 'check.webhooks.tenure.test',
    failurePolicy: 'Fail',
    validate({ object, dryRun, userInfo }) {
      const host = object?.data?.['host']
      if (host === 'crash') throw new Error('a secret of the handler')
      if (!host) return deny('data.host is missing: name the host to serve.', { code: 422, reason: 'Invalid' })
      const warnings = host.endsWith('.old') ? [`host ${host} is deprecated`] : []
      return allow({ warnings: [...warnings, ...(dryRun ? [`dry run by ${userInfo.username ?? ''}`] : [])] })
    },
  }),
  validating({
    ...about,
    name: 'optional.webhooks.tenure.test',
    path: '/optional',
    failurePolicy: 'Ignore',
    validate({ object }) {
      if (object?.data?.['optional'] === 'crash') throw new Error('a secret of the handler')
      return allow()
    },
  }),
  mutating({
    ...about,
    name: 'change.webhooks.tenure.test',
    failurePolicy: 'Fail',
    mutate({ object }) {
      if (!object?.data?.['host']) return object ?? []
      const { remove: _, ...data } = object.data
      return changed(
        {
          ...object,
          metadata: {
            ...object.metadata,
            annotations: { ...object.metadata?.annotations, 'tenure.test/changed': 'set' },
          },
          data: { ...data, host: object.data['host'].toLowerCase() },
        },
        { warnings: object.data['remove'] === undefined ? [] : ['data.remove was removed'] },
      )
    },
  }),
]

let cluster: ClusterAccess
let admin: Client
const warnings: string[] = []
const closes: (() => Promise<void>)[] = []

async function clientOf(kubeconfigPath: string): Promise<Client> {
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath }))
  closes.push(() => transport.close())
  return new Client({
    transport,
    fieldManager: 'webhooks-test',
    onResponse: ({ headers }) => {
      if (headers?.['warning']) warnings.push(String(headers['warning']))
    },
  })
}

function rulesFor(
  verbs: readonly string[],
  apiGroups: readonly string[],
  resources: readonly string[],
  name: string,
): readonly object[] {
  return [
    { verbs, apiGroups, resources, resourceNames: [name] },
    // RBAC cannot restrict create by name.
    { verbs: ['create'], apiGroups, resources },
  ]
}

/** Grants exactly the permissions that an operator replica needs. */
async function grantOperator(): Promise<void> {
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: OPERATOR }]
  const role = (kind: 'Role' | 'ClusterRole', rules: readonly unknown[]) => {
    const metadata = { name: OPERATOR, ...(kind === 'Role' && { namespace: NAMESPACE }) }
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: OPERATOR }
    return [
      { apiVersion, kind, metadata, rules },
      { apiVersion, kind: `${kind}Binding`, metadata, subjects, roleRef },
    ]
  }
  const configurations = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']
  const items = [
    ...role('Role', rulesFor(['get', 'list', 'watch', 'update'], [''], ['secrets'], 'serving')),
    ...role(
      'ClusterRole',
      rulesFor(['get', 'list', 'watch', 'patch'], ['admissionregistration.k8s.io'], configurations, NAME),
    ),
  ]
  await cluster.kubectl(['apply', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
}

beforeAll(async () => {
  cluster = await openCluster(workerKubeconfig())
  admin = await clientOf(cluster.kubeconfig)
  await cluster.kubectl(['create', 'namespace', NAMESPACE])
  await grantOperator()
})

afterEach(() => {
  warnings.length = 0
})

afterAll(async () => {
  for (const close of closes.toReversed()) await close()
  const leftovers = ['validatingwebhookconfiguration', 'mutatingwebhookconfiguration'].map((kind) => `${kind}/${NAME}`)
  await cluster.kubectl(['delete', '--ignore-not-found', ...leftovers, `clusterrole/${OPERATOR}`])
  await cluster.kubectl(['delete', '--ignore-not-found', `clusterrolebinding/${OPERATOR}`])
  await cluster.kubectl(['delete', 'namespace', NAMESPACE, '--wait=false'])
})

async function startReplica(port = 0): Promise<Webhooks> {
  const api = await clientOf(await cluster.userKubeconfig(OPERATOR))
  const informers = new SharedInformers({ api })
  const end = new AbortController()
  informers.start(end.signal)
  const webhooks = new Webhooks({
    webhooks: declared,
    cluster: { api, informers },
    secret: { namespace: NAMESPACE, name: 'serving' },
    configuration: { name: NAME, address: { url: `https://127.0.0.1:${port}` } },
    host: '127.0.0.1',
    port,
    propagation: PROPAGATION,
    // One call per connection, because only a new handshake notices a new certificate.
    callsPerConnection: 1,
  })
  await webhooks.start()
  closes.push(async () => {
    await webhooks.close(1000)
    end.abort()
    await informers.whenStopped()
  })
  return webhooks
}

function configMap(name: string, data: Readonly<Record<string, string>>): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE, labels: { checked: 'yes' } },
    data,
  }
}

const tryIt = (data: Readonly<Record<string, string>>): Promise<ConfigMap> =>
  admin.create(ConfigMap, configMap('tried', data), { dryRun: true })

/** Returns the result or the error of the request. */
async function outcome(request: Promise<unknown>): Promise<string> {
  try {
    await request
    return 'created'
  } catch (error) {
    return isApiError(error) ? `${error.status} ${error.reason}: ${error.message}` : String(error)
  }
}

async function bundles(): Promise<readonly string[]> {
  const all = await Promise.all([Validating, Mutating].map((kind) => admin.get(kind, { name: NAME })))
  return all.flatMap(({ webhooks = [] }) =>
    webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString('utf8')),
  )
}

/** Removes the CA bundle from the first webhooks of a configuration. */
function wipe(count: number): ReturnType<typeof jsonPatch> {
  const indexes = Array.from({ length: count }, (_, index) => index)
  return jsonPatch(indexes.map((index) => ({ op: 'remove', path: `/webhooks/${index}/clientConfig/caBundle` })))
}

/** Returns the certificate that a new client with these `authorities` sees. */
function handshake(port: number, authorities: string): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: [...splitBundle(authorities)] }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

/** Calls the webhooks without pause, several calls at a time. */
function callWithoutPause() {
  const outcomes: string[] = []
  const over = new AbortController()
  const run = async (): Promise<void> => {
    for (let burst = 1; !over.signal.aborted; burst++) {
      const calls = Array.from({ length: 1 + (burst % 5) }, () => outcome(tryIt({ host: 'A.dev' })))
      outcomes.push(...(await Promise.all(calls)))
    }
  }
  const running = run()
  return {
    count: (): number => outcomes.length,
    async stop(): Promise<readonly string[]> {
      over.abort()
      await running
      return outcomes
    },
  }
}

describe('webhooks called by a real API server', () => {
  let webhooks: Webhooks

  beforeAll(async () => {
    webhooks = await startReplica()
  })

  test("a bad object is denied with the handler's message, status and reason", async () => {
    await expect
      .poll(() => outcome(tryIt({})), POLL_OPTIONS)
      .toMatch(
        /^422 Invalid: .*admission webhook "check\.webhooks\.tenure\.test" denied the request: data\.host is missing: name the host to serve\./,
      )
  })

  test('objects that the selectors do not match are not sent', async () => {
    const object = { ...configMap('unchecked', {}), metadata: { name: 'unchecked', namespace: NAMESPACE } }
    expect(await outcome(admin.create(ConfigMap, object))).toBe('created')
  })

  test('a good object is mutated and warnings are returned', async () => {
    const created = await admin.create(ConfigMap, configMap('good', { host: 'B.old', remove: 'x' }))
    expect(created.data).toEqual({ host: 'b.old' })
    expect(created.metadata.annotations).toEqual({ 'tenure.test/changed': 'set' })
    expect(warnings.join()).toContain('host b.old is deprecated')
    expect(warnings.join()).toContain('data.remove was removed')
    const updated = await admin.update(ConfigMap, { ...created, data: { host: 'C.dev' } })
    expect(updated.data).toEqual({ host: 'c.dev' })
  })

  test('the handler sees dry runs and the user', async () => {
    await tryIt({ host: 'a.dev' })
    expect(warnings.join()).toContain('dry run by ')
  })

  test('a crashing handler follows its failure policy and does not leak its error', async () => {
    const refused = await outcome(tryIt({ host: 'crash' }))
    expect(refused).toMatch(/^500 InternalError: .*could not decide/)
    expect(refused).not.toContain('secret')
    expect(await outcome(tryIt({ host: 'a.dev', optional: 'crash' }))).toBe('created')
  })

  test('calls succeed while certificate and authority are rotated', async () => {
    const { certificates, server } = webhooks
    const calls = callWithoutPause()
    const first = certificates.serving.certificate
    const firstBundle = certificates.bundle
    await certificates.renewNow('serving')
    expect(certificates.serving.certificate).not.toBe(first)
    const second = certificates.serving.certificate

    await certificates.renewNow('authority')
    const [newest = ''] = splitBundle(certificates.bundle)
    expect(splitBundle(certificates.bundle)).toHaveLength(2)
    await expect.poll(bundles, POLL_OPTIONS).toEqual([1, 2, 3].map(() => certificates.bundle))
    await expect.poll(() => certificates.serving.certificate, POLL_OPTIONS).not.toBe(second)
    // A new client with the new authority is served; a client with only the old one is not.
    const shown = await handshake(server.port, newest)
    expect(shown.verify(new X509Certificate(newest).publicKey)).toBe(true)
    await expect(handshake(server.port, firstBundle)).rejects.toThrow(/certificate|signature/)

    const soFar = calls.count()
    await expect.poll(calls.count, POLL_OPTIONS).toBeGreaterThan(soFar + 200)
    const outcomes = await calls.stop()
    expect([...new Set(outcomes)]).toEqual(['created'])
  })

  test('a removed CA bundle and a deleted configuration are restored', async () => {
    const { bundle } = webhooks.certificates
    await Promise.all([
      admin.patch(Mutating, { name: NAME }, wipe(1)),
      admin.patch(Validating, { name: NAME }, wipe(2)),
    ])
    await expect.poll(bundles, POLL_OPTIONS).toEqual([bundle, bundle, bundle])
    await admin.delete(Validating, { name: NAME })
    await expect.poll(() => outcome(bundles()), POLL_OPTIONS).toBe('created')
    expect(await bundles()).toEqual([bundle, bundle, bundle])
    await expect.poll(() => outcome(tryIt({})), POLL_OPTIONS).toContain('data.host is missing')
  })

  test('a later replica serves with the certificate of the Secret', async () => {
    const { port } = webhooks.server
    const { certificate } = webhooks.certificates.serving
    await webhooks.close(1000)
    const next = await startReplica(port)
    expect(next.certificates.serving.certificate).toBe(certificate)
    // Every connection is new and sees the new authority's certificate.
    expect(await outcome(tryIt({ host: 'a.dev' }))).toBe('created')
    expect(await outcome(tryIt({}))).toContain('data.host is missing')
  })
})
