/** Tests which Applications the webhooks admit on a real API server, and what happens while the operator is away. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { UBUNTU_SPELLINGS } from '../../packages/applications/src/testing/image-spellings.ts'
import { ApplicationsFixture, type Replica } from './programs-under-test/applications.ts'
import { monotonic } from './programs-under-test/child.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 100 }
const DENIED = 'admission webhook "applications.cloudnative.elide.dev" denied the request: '
const AT_A_URL = { WEBHOOKS: 'true', WEBHOOK_URL: 'https://127.0.0.1:0', WEBHOOK_PORT: '0' }
const CREATE = ['create', '--dry-run=server', '-f', '-']

const base = (name: string): string =>
  `${DENIED}Base image '${name}' is not allowed. Use distroless or specific application images.`
const REGISTRIES = `${DENIED}Images must be from gcr.io or docker.io registries`

let fixture: ApplicationsFixture

beforeAll(async () => {
  fixture = await ApplicationsFixture.open(workerKubeconfig())
})

afterEach(() => fixture.endAll())

afterAll(() => fixture.close())

/** Starts an operator and waits until the API server calls its webhooks. */
async function startGuard(podName: string, env: Readonly<Record<string, string>> = {}): Promise<Replica> {
  const guard = await fixture.start(podName, { ...AT_A_URL, ...env })
  await guard.whenReady()
  const ubuntu = fixture.manifest('probe', { replicas: 1, image: 'ubuntu' })
  await expect
    .poll(async () => (await fixture.cluster.runKubectl(CREATE, { stdin: ubuntu })).stderr, POLL_OPTIONS)
    .toContain(base('ubuntu'))
  return guard
}

describe('webhooks of a running operator', () => {
  test('the image policy applies to every spelling, for kubectl and the HTTP API', async () => {
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
    const items = [...refused.keys()].map((image, index) =>
      fixture.manifest(`refused-${index}`, { replicas: 1, image }),
    )
    const said = await fixture.refusal(CREATE, { apiVersion: 'v1', kind: 'List', items })
    const complaints = said.split('\n').filter((line) => line.includes('denied'))
    expect(complaints).toEqual([...refused.values()].map((message) => expect.stringContaining(message)))

    const welcome = ['nginx', 'gcr.io/distroless/base-debian12', 'myorg/ubuntu-tools:1', 'nginx:alpine']
    const list = welcome.map((image, index) => fixture.manifest(`welcome-${index}`, { replicas: 1, image }))
    const { code, stderr } = await fixture.cluster.runKubectl(CREATE, {
      stdin: { apiVersion: 'v1', kind: 'List', items: list },
    })
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('Warning: Resource limits are recommended for production workloads'),
    ])
    expect(stderr).toContain('Warning: Using :latest tag is not recommended for production')

    const route = `/apis/cloudnative.elide.dev/v1/namespaces/${fixture.namespace}/applications`
    const forbidden = { metadata: { name: 'rest' }, spec: { replicas: 1, image: 'ubuntu:22.04' } }
    expect((await guard.send('POST', route, forbidden)).status).toBe(400)

    const metrics = await guard.metrics()
    expect(metrics).toMatch(/^webhook_requests_total\{webhook="validate",operation="CREATE",allowed="false"\} [1-9]/m)
    await fixture.stop(guard)
    expect(guard.complaints).toEqual([])

    // Only changes are validated; unchanged fields are not. The original does not apply the policy to its HTTP API.
    const original = await startGuard('original', { IMAGE_POLICY_ON_REST: 'false' })
    expect((await original.send('POST', route, forbidden)).status).toBe(201)
    await fixture.whenReady('rest')
    await fixture.kubectl('label', 'application', 'rest', 'team=blue')
    await fixture.kubectl('scale', 'application/rest', '--replicas=2')
    const patch = ['patch', 'application', 'rest', '--type=merge', '-p']
    expect(await fixture.refusal([...patch, '{"spec":{"image":"debian"}}'])).toContain(base('debian'))
    await fixture.kubectl(...patch, '{"spec":{"image":"nginx:1.29"}}')
    const tooMany = fixture.manifest('many', { replicas: 150, image: 'nginx' })
    expect(await fixture.refusal(CREATE, tooMany)).toContain('should be less than or equal to 100')
    await fixture.kubectl('delete', 'application', 'rest', '--timeout=90s')
    await fixture.stop(original)
    expect(original.complaints).toEqual([])
  })
})

describe('webhooks of a stopped operator', () => {
  test('writes of Applications wait, and other writes do not', async () => {
    const killed = await startGuard('killed')
    await fixture.apply('there', { replicas: 1, image: 'nginx:1.29' })
    await fixture.apply('leaving', { replicas: 1, image: 'nginx:1.29' })
    await fixture.whenReady('there', 'leaving')
    await killed.child.end()

    const began = monotonic()
    await fixture.kubectl('create', 'configmap', 'unrelated')
    await fixture.kubectl('create', 'deployment', 'unrelated', '--image=ubuntu')
    // The API server's webhook timeout is five seconds.
    expect(monotonic() - began).toBeLessThan(5_000)
    const refused = await fixture.refusal(
      ['create', '-f', '-'],
      fixture.manifest('new', { replicas: 1, image: 'nginx' }),
    )
    expect(refused).toContain('failed calling webhook "applications.cloudnative.elide.dev"')
    expect(refused).toContain('connection refused')
    await fixture.kubectl('scale', 'application/there', '--replicas=2')
    await fixture.kubectl('delete', 'application', 'leaving', '--wait=false')

    // The new operator listens on another port and updates the webhook configuration.
    const back = await startGuard('back')
    await fixture.apply('new', { replicas: 1, image: 'nginx:1.29' })
    await fixture.whenReady('new')
    await fixture.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=2', '--timeout=90s', 'application/there')
    await fixture.kubectl('wait', '--for=delete', '--timeout=90s', 'application/leaving')
    await fixture.kubectl('delete', 'applications', '--all', '--timeout=90s')
    await fixture.stop(back)
    expect(back.complaints).toEqual([])
  })
})

describe('webhooks behind a Service', () => {
  test('the replicas share a certificate that the webhook configuration trusts', async () => {
    // The operators run outside the cluster, so the Service must be configured.
    const env = { WEBHOOKS: 'true', WEBHOOK_PORT: '0', WEBHOOK_SERVICE_NAMESPACE: fixture.home }
    const replicas = [await fixture.start('one', env), await fixture.start('two', env)]
    for (const replica of replicas) await replica.whenReady()
    const secret = ['-n', fixture.home, 'get', 'secret', 'elide-operator-webhook', '-o', 'jsonpath={.data.ca\\.crt}']
    const authority = await fixture.cluster.kubectl(secret)
    expect(Buffer.from(authority, 'base64').toString()).toContain('BEGIN CERTIFICATE')
    for (const kind of ['validatingwebhookconfiguration', 'mutatingwebhookconfiguration']) {
      const clientConfig = async (): Promise<unknown> =>
        JSON.parse(
          await fixture.cluster.kubectl(['get', kind, 'elide-operator', '-o', 'jsonpath={.webhooks[0].clientConfig}']),
        )
      await expect
        .poll(clientConfig, POLL_OPTIONS)
        .toMatchObject({ caBundle: authority, service: { name: 'elide-operator', namespace: fixture.home, port: 443 } })
    }
    for (const replica of replicas) {
      await fixture.stop(replica)
      expect(replica.complaints).toEqual([])
    }
  })
})
