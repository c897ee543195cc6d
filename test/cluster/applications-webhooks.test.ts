/** What the webhooks of Applications let in, as the real API server asks them, and what happens when nobody answers. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'

import { UBUNTU_SPELLINGS } from '../../packages/applications/src/testing/image-spellings.ts'
import { ApplicationsBed, type Replica } from './programs-under-test/applications.ts'
import { monotonic } from './programs-under-test/child.ts'

const SOON = { timeout: 90_000, interval: 100 }
const DENIED = 'admission webhook "applications.cloudnative.elide.dev" denied the request: '
const AT_A_URL = { WEBHOOKS: 'true', WEBHOOK_URL: 'https://127.0.0.1:0', WEBHOOK_PORT: '0' }
const CREATE = ['create', '--dry-run=server', '-f', '-']

const base = (name: string): string =>
  `${DENIED}Base image '${name}' is not allowed. Use distroless or specific application images.`
const REGISTRIES = `${DENIED}Images must be from gcr.io or docker.io registries`

let bed: ApplicationsBed

beforeAll(async () => {
  bed = await ApplicationsBed.open(inject('kubeconfig'))
})

afterEach(() => bed.endAll())

afterAll(() => bed.close())

/** An operator whose webhooks the API server asks. */
async function startGuard(podName: string): Promise<Replica> {
  const guard = await bed.start(podName, AT_A_URL)
  await guard.whenReady()
  const ubuntu = bed.manifest('probe', { replicas: 1, image: 'ubuntu' })
  await expect
    .poll(async () => (await bed.cluster.runKubectl(CREATE, { stdin: ubuntu })).stderr, SOON)
    .toContain(base('ubuntu'))
  return guard
}

describe('while the operator answers', () => {
  test('the image policy holds in every spelling, for kubectl and not for the HTTP API', async () => {
    const guard = await startGuard('guard')
    const refused = new Map<string, string>([
      ...UBUNTU_SPELLINGS.map((image) => [image, base('ubuntu')] as const),
      ['debian:12', base('debian')],
      ['docker.io/library/alpine:3.22', base('alpine')],
      ['quay.io/org/app:1', REGISTRIES],
      ['docker.io.evil.example/app', REGISTRIES],
      ['evilgcr.io/app/x', REGISTRIES],
      ['Nginx', `${DENIED}'Nginx' is not a valid image reference`],
    ])
    const items = [...refused.keys()].map((image, index) => bed.manifest(`refused-${index}`, { replicas: 1, image }))
    const said = await bed.refusal(CREATE, { apiVersion: 'v1', kind: 'List', items })
    const complaints = said.split('\n').filter((line) => line.includes('denied'))
    expect(complaints).toEqual([...refused.values()].map((message) => expect.stringContaining(message)))

    const welcome = ['nginx', 'gcr.io/distroless/base-debian12', 'myorg/ubuntu-tools:1', 'nginx:alpine']
    const list = welcome.map((image, index) => bed.manifest(`welcome-${index}`, { replicas: 1, image }))
    const { code, stderr } = await bed.cluster.runKubectl(CREATE, {
      stdin: { apiVersion: 'v1', kind: 'List', items: list },
    })
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('Warning: Resource limits are recommended for production workloads'),
    ])
    expect(stderr).toContain('Warning: Using :latest tag is not recommended for production')

    // A change is judged, what stays as it was is not.
    const route = `/apis/cloudnative.elide.dev/v1/namespaces/${bed.namespace}/applications`
    const posted = await guard.send('POST', route, {
      metadata: { name: 'rest' },
      spec: { replicas: 1, image: 'ubuntu:22.04' },
    })
    expect(posted.status).toBe(201)
    await bed.whenReady('rest')
    await bed.kubectl('label', 'application', 'rest', 'team=blue')
    await bed.kubectl('scale', 'application/rest', '--replicas=2')
    const patch = ['patch', 'application', 'rest', '--type=merge', '-p']
    expect(await bed.refusal([...patch, '{"spec":{"image":"debian"}}'])).toContain(base('debian'))
    await bed.kubectl(...patch, '{"spec":{"image":"nginx:1.29"}}')
    const tooMany = bed.manifest('many', { replicas: 150, image: 'nginx' })
    expect(await bed.refusal(CREATE, tooMany)).toContain('should be less than or equal to 100')
    await bed.kubectl('delete', 'application', 'rest', '--timeout=90s')

    const metrics = await guard.metrics()
    expect(metrics).toMatch(/^webhook_requests_total\{webhook="validate",operation="CREATE",allowed="false"\} [1-9]/m)
    await bed.stop(guard)
    expect(guard.complaints).toEqual([])
  })
})

describe('while nobody answers', () => {
  test('Applications wait, and nobody else does', async () => {
    const killed = await startGuard('killed')
    await bed.apply('there', { replicas: 1, image: 'nginx:1.29' })
    await bed.apply('leaving', { replicas: 1, image: 'nginx:1.29' })
    await bed.whenReady('there', 'leaving')
    await killed.child.end()

    const began = monotonic()
    await bed.kubectl('create', 'configmap', 'unrelated')
    await bed.kubectl('create', 'deployment', 'unrelated', '--image=ubuntu')
    // Five seconds is what the API server would wait for a webhook.
    expect(monotonic() - began).toBeLessThan(5_000)
    const refused = await bed.refusal(['create', '-f', '-'], bed.manifest('new', { replicas: 1, image: 'nginx' }))
    expect(refused).toContain('failed calling webhook "applications.cloudnative.elide.dev"')
    expect(refused).toContain('connection refused')
    await bed.kubectl('scale', 'application/there', '--replicas=2')
    await bed.kubectl('delete', 'application', 'leaving', '--wait=false')

    // At another port, which the operator tells the API server.
    const back = await startGuard('back')
    await bed.apply('new', { replicas: 1, image: 'nginx:1.29' })
    await bed.whenReady('new')
    await bed.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=2', '--timeout=90s', 'application/there')
    await bed.kubectl('wait', '--for=delete', '--timeout=90s', 'application/leaving')
    await bed.kubectl('delete', 'applications', '--all', '--timeout=90s')
    await bed.stop(back)
    expect(back.complaints).toEqual([])
  })
})

describe('behind a Service', () => {
  test('the replicas share a certificate, which the API server is told to trust', async () => {
    // These are no pods: that the Service is there for them must be said.
    const env = { WEBHOOKS: 'true', WEBHOOK_PORT: '0', WEBHOOK_SERVICE_NAMESPACE: bed.home }
    const replicas = [await bed.start('one', env), await bed.start('two', env)]
    for (const replica of replicas) await replica.whenReady()
    const secret = ['-n', bed.home, 'get', 'secret', 'elide-operator-webhook', '-o', 'jsonpath={.data.ca\\.crt}']
    const authority = await bed.cluster.kubectl(secret)
    expect(Buffer.from(authority, 'base64').toString()).toContain('BEGIN CERTIFICATE')
    for (const kind of ['validatingwebhookconfiguration', 'mutatingwebhookconfiguration']) {
      const clientConfig = async (): Promise<unknown> =>
        JSON.parse(
          await bed.cluster.kubectl(['get', kind, 'elide-operator', '-o', 'jsonpath={.webhooks[0].clientConfig}']),
        )
      await expect
        .poll(clientConfig, SOON)
        .toMatchObject({ caBundle: authority, service: { name: 'elide-operator', namespace: bed.home, port: 443 } })
    }
    for (const replica of replicas) {
      await bed.stop(replica)
      expect(replica.complaints).toEqual([])
    }
  })
})
