import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { createAuthority } from '../../packages/runtime/src/certificates/index.ts'
import { type ClusterAccess, openCluster } from './access.ts'

// A new namespace per run, because the previous one may still be terminating.
const NAMESPACE = `cluster-test-${randomBytes(3).toString('hex')}`
const POLL_OPTIONS = { timeout: 90_000, interval: 100 }

let cluster: ClusterAccess

beforeAll(async () => {
  cluster = await openCluster(workerKubeconfig())
  await cluster.kubectl(['create', 'namespace', NAMESPACE])
})

afterAll(async () => {
  await cluster.kubectl(['delete', 'namespace', NAMESPACE, '--wait=false'])
})

const inNamespace = (...args: readonly string[]): readonly string[] => ['-n', NAMESPACE, ...args]

describe('the test cluster', () => {
  test('the cluster has a ready node', async () => {
    const nodes = await cluster.kubectl([
      'get',
      'nodes',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}',
    ])
    expect(nodes).toContain('node-0=True')
  })

  test('the pods of a Deployment become ready, and are collected when it is deleted', async () => {
    await cluster.kubectl(inNamespace('create', 'deployment', 'web', '--image=example.test/web', '--replicas=3'))
    const ready = inNamespace('get', 'deployment', 'web', '-o', 'jsonpath={.status.readyReplicas}/{.spec.replicas}')
    await expect.poll(() => cluster.kubectl(ready), POLL_OPTIONS).toBe('3/3')

    const pods = inNamespace('get', 'pods', '-l', 'app=web', '-o', 'name')
    expect((await cluster.kubectl(pods)).trim().split('\n')).toHaveLength(3)
    await cluster.kubectl(inNamespace('delete', 'deployment', 'web'))
    await expect.poll(() => cluster.kubectl(pods), POLL_OPTIONS).toBe('')
  })

  test('RBAC denies a user everything that is not granted', async () => {
    const kubeconfig = await cluster.userKubeconfig('somebody', ['some-team'])
    const listing = inNamespace('get', 'configmaps')
    const denied = await cluster.runKubectl(listing, { kubeconfig })
    expect(denied.code).toBe(1)
    expect(denied.stderr).toContain('configmaps is forbidden: User "somebody" cannot list resource "configmaps"')

    await cluster.kubectl(inNamespace('create', 'role', 'reader', '--verb=list', '--resource=configmaps'))
    await cluster.kubectl(inNamespace('create', 'rolebinding', 'readers', '--role=reader', '--group=some-team'))
    await expect.poll(async () => (await cluster.runKubectl(listing, { kubeconfig })).code, POLL_OPTIONS).toBe(0)
  })

  test('tokens of service accounts are issued and identified', async () => {
    await cluster.kubectl(inNamespace('create', 'serviceaccount', 'robot'))
    const token = (await cluster.kubectl(inNamespace('create', 'token', 'robot'))).trim()
    const review = await cluster.kubectl(['create', '-o', 'jsonpath={.status.user.username}', '-f', '-'], {
      stdin: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    })
    expect(review).toBe(`system:serviceaccount:${NAMESPACE}:robot`)
  })

  test('the API server calls a webhook on loopback by its URL', async () => {
    const authority = createAuthority({ commonName: 'webhook-test' })
    const { certificate, key } = authority.issue({
      commonName: 'webhook',
      usage: 'server',
      ipAddresses: ['127.0.0.1'],
    })
    const server = createServer({ cert: certificate, key }, (request, response) => void refuse(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      await cluster.kubectl(['create', '-f', '-'], { stdin: webhookConfiguration(port, authority.certificate) })
      // The API server notices a new webhook through its own watch, a moment after its creation.
      const create = inNamespace('create', 'configmap', 'refused', '--dry-run=server')
      await expect
        .poll(async () => (await cluster.runKubectl(create)).stderr, POLL_OPTIONS)
        .toContain('denied the request: no, says the webhook')
    } finally {
      await cluster.kubectl(['delete', 'validatingwebhookconfiguration', NAMESPACE])
      server.close()
      server.closeAllConnections()
    }
  })
})

async function refuse(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { request: review } = JSON.parse(await text(request)) as { request: { uid: string } }
  const answer = { uid: review.uid, allowed: false, status: { message: 'no, says the webhook' } }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }))
}

function webhookConfiguration(port: number, ca: string): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: NAMESPACE },
    webhooks: [
      {
        name: 'cluster.tenure.dev',
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca).toString('base64') },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  }
}
