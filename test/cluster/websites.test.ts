/** Tests the example of the docs as a reader would use it, with kubectl and the process. */
import { randomBytes } from 'node:crypto'

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type ClusterAccess, openCluster } from './access.ts'
import { isListening } from './free-ports.ts'
import { Child, monotonic, startProgram } from './programs-under-test/child.ts'

const NAMESPACE = `websites-${randomBytes(3).toString('hex')}`
const POLL_OPTIONS = { timeout: 90_000, interval: 50 }
const CRD = 'docs/examples/website-crd.yaml'
const FINALIZER = 'example.dev/cleanup'
const SHORT = { leaseDuration: 4_000, renewDeadline: 3_000, retryPeriod: 500 }

interface Json {
  readonly metadata: {
    readonly resourceVersion: string
    readonly uid: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[]
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

let cluster: ClusterAccess
const children: Child[] = []

const inNamespace = (...args: readonly string[]): Promise<string> => cluster.kubectl(['-n', NAMESPACE, ...args])

beforeAll(async () => {
  cluster = await openCluster(workerKubeconfig())
  await cluster.kubectl(['create', 'namespace', NAMESPACE])
  await cluster.kubectl(['apply', '-f', CRD])
  await cluster.kubectl(['wait', '--for=condition=Established', 'crd/websites.example.dev', '--timeout=60s'])
})

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.end()))
})

afterAll(async () => {
  await cluster.kubectl(['delete', '-f', CRD])
  await cluster.kubectl(['delete', 'namespace', NAMESPACE, '--wait=false'])
})

/** Starts a replica; replicas with the same lease elect a leader. */
function startReplica(lease: string, identity: string): Child {
  const settings = { lease, namespace: NAMESPACE, identity, ...SHORT }
  const child = startProgram('websites.ts', settings, { KUBECONFIG: cluster.kubeconfig })
  children.push(child)
  return child
}

async function expectOutput(child: Child, text: string): Promise<void> {
  await expect.poll(() => child.output, POLL_OPTIONS).toContain(text)
}

/** Returns undefined if the object does not exist. */
async function read(...what: readonly string[]): Promise<Json | undefined> {
  const { code, stdout, stderr } = await cluster.runKubectl(['-n', NAMESPACE, 'get', '-o', 'json', ...what])
  if (code === 0) return JSON.parse(stdout) as Json
  if (stderr.includes('NotFound')) return undefined
  throw new Error(stderr)
}

async function applyWebsite(name: string, spec: object): Promise<void> {
  const metadata = { name, namespace: NAMESPACE }
  await cluster.kubectl(['apply', '-f', '-'], {
    stdin: { apiVersion: 'example.dev/v1', kind: 'Website', metadata, spec },
  })
}

async function waitForReady(...websites: readonly string[]): Promise<void> {
  const names = websites.map((name) => `website/${name}`)
  await inNamespace('wait', '--for=condition=Ready', '--timeout=60s', ...names)
}

describe('the example run with the commands of the guide', () => {
  test('the example serves a website, cleans up after it, and stops on Ctrl-C', async () => {
    const isTaken = await isListening(8081)
    const child = new Child('npm', {
      args: ['exec', '--', 'node', 'docs/examples/websites.ts'],
      env: { KUBECONFIG: cluster.kubeconfig },
      group: true,
    })
    children.push(child)
    // The example's port is fixed, so with a taken port the test can only check the error.
    if (isTaken) return expectOutput(child, 'Port 8081 for probes (:8081) is taken by another program')
    await cluster.kubectl(['apply', '-f', CRD, '-f', 'docs/examples/website.yaml'])
    await cluster.kubectl(['wait', '--for=condition=Ready', 'website/blog', '--timeout=60s'])
    const columns = (await cluster.kubectl(['get', 'website', 'blog'])).split('\n').map((line) => line.split(/ +/))
    expect(columns.slice(0, 2)).toEqual([
      ['NAME', 'IMAGE', 'PHASE'],
      ['blog', 'nginx:1.29', 'Running'],
    ])
    expect(await cluster.kubectl(['get', 'deployment', 'blog'])).toMatch(/blog +3\/3 +3 +3/)
    const ready = await fetch('http://127.0.0.1:8081/readyz')
    expect([ready.status, await ready.text()]).toEqual([200, 'ok'])

    await cluster.kubectl(['delete', 'website', 'blog'])
    await expectOutput(child, 'cleaning up')
    child.signal('SIGINT')
    await child.ended
    await expectOutput(child, 'manager stopped')
    expect(await cluster.kubectl(['get', 'lease', 'websites-leader', '-o', 'jsonpath={.spec.holderIdentity}'])).toBe('')
    expect(await isListening(8081)).toBe(false)
  })
})

describe('the replicas of the example', () => {
  test('owned fields are restored after foreign edits, and other fields stay', async () => {
    const replica = startReplica('repair', 'only')
    await applyWebsite('shop', { image: 'shop:1', replicas: 2 })
    await waitForReady('shop')
    const made = await read('deployment', 'shop')
    expect(made?.metadata.ownerReferences).toMatchObject([{ kind: 'Website', name: 'shop' }])
    expect((await read('website', 'shop'))?.metadata.finalizers).toEqual([FINALIZER])

    // Owned fields are restored; the foreign annotation stays.
    await inNamespace('annotate', 'deployment', 'shop', 'example.com/note=keep me')
    await inNamespace('patch', 'deployment', 'shop', '--type=merge', '-p', '{"spec":{"minReadySeconds":1}}')
    await inNamespace('scale', 'deployment', 'shop', '--replicas=5')
    await inNamespace('set', 'image', 'deployment/shop', 'web=evil:1')
    const image = ['deployment', 'shop', '-o', 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}']
    await expect.poll(() => inNamespace('get', ...image), POLL_OPTIONS).toBe('2 shop:1')
    const repaired = await read('deployment', 'shop')
    expect(repaired?.metadata.annotations?.['example.com/note']).toBe('keep me')
    expect(repaired?.spec['minReadySeconds']).toBe(1)

    await inNamespace('delete', 'deployment', 'shop')
    await expect
      .poll(async () => (await read('deployment', 'shop'))?.metadata.uid ?? made?.metadata.uid, POLL_OPTIONS)
      .not.toBe(made?.metadata.uid)
    await waitForReady('shop')

    // observedGeneration shows that the status belongs to the new spec.
    await applyWebsite('shop', { image: 'shop:2', replicas: 1 })
    await expect.poll(() => inNamespace('get', ...image), POLL_OPTIONS).toBe('1 shop:2')
    const seen = ['website', 'shop', '-o', 'jsonpath={.status.conditions[0].observedGeneration} {.metadata.generation}']
    await expect.poll(() => inNamespace('get', ...seen), POLL_OPTIONS).toBe('2 2')

    await inNamespace('delete', 'website', 'shop')
    expect(replica.output).toContain('cleaning up')

    replica.signal('SIGTERM')
    expect(await replica.ended).toMatchObject({ code: 0, signal: null })
    expect((await read('lease', 'repair'))?.spec).toMatchObject({ holderIdentity: '' })
  })

  test('nothing is lost when the leader is killed', async () => {
    const first = startReplica('failover', 'first')
    await expectOutput(first, 'became leader')
    const second = startReplica('failover', 'second')
    await expectOutput(second, 'waiting to become leader')
    await applyWebsite('kept', { image: 'kept:1' })
    await applyWebsite('deleted', { image: 'deleted:1' })
    await waitForReady('kept', 'deleted')

    // While no replica leads, one Website is created, one changed, one deleted, and one loses its Deployment.
    first.signal('SIGKILL')
    await first.ended
    const killed = monotonic()
    await applyWebsite('made', { image: 'made:1' })
    await applyWebsite('kept', { image: 'kept:2', replicas: 2 })
    await inNamespace('delete', 'website', 'deleted', '--wait=false')
    await inNamespace('delete', 'deployment', 'kept')
    expect((await read('website', 'deleted'))?.metadata.finalizers).toEqual([FINALIZER])

    await expectOutput(second, 'became leader')
    expect(monotonic() - killed).toBeLessThan(SHORT.leaseDuration + SHORT.retryPeriod + 1_000)
    await expect.poll(() => read('website', 'deleted'), POLL_OPTIONS).toBeUndefined()
    expect(second.output).toContain('cleaning up')
    const columns = 'custom-columns=:metadata.name,:spec.template.spec.containers[0].image,:status.readyReplicas'
    const deployments = ['deployments', '-l', 'website in (kept, made)', '--no-headers', '-o', columns]
    await expect
      .poll(() => inNamespace('get', ...deployments), POLL_OPTIONS)
      .toMatch(/^kept +kept:2 +2\nmade +made:1 +1\n$/)
    await waitForReady('kept', 'made')

    await inNamespace('delete', 'websites', '--all')
    second.signal('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0, signal: null })
  })

  test('deleting Websites deletes all their objects', async () => {
    expect(await cluster.kubectl(['get', 'websites', '-A', '-o', 'name'])).toBe('')
    // Kubernetes' garbage collector discovers new kinds only every 30 seconds.
    const left = (): Promise<string> =>
      cluster.kubectl(['get', 'deployments,pods', '-A', '-l', 'website', '-o', 'name'])
    await expect.poll(left, { timeout: 90_000, interval: 200 }).toBe('')
  })
})
